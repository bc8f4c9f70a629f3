"""docs/policy-document.md: each document on it is one, and the statements are those the document describes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

from jsonschema import Draft202012Validator
from spec_blocks import blocks

from vigil_lang.diagnostics import Source
from vigil_lang.draft import clause_result, document
from vigil_lang.draft.building import conditions, operands
from vigil_lang.draft.building.build import PARTS, statement
from vigil_lang.draft.document import read_document
from vigil_lang.draft.schema import published
from vigil_lang.syntax.format import format_text
from vigil_lang.syntax.print import to_text

PAGE = Path(__file__).parents[2] / "docs" / "policy-document.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_its_documents_are_read_and_become_its_statements() -> None:
    before: list[clause_result.Answer] = []
    shown = 0
    for block in blocks(PAGE):
        if block.kind == "json":
            assert block.args == ("document",)
            before = list(read_document(Source("draft.json", block.text)).answers)
            Draft202012Validator(published()).validate(json.loads(block.text))
        elif block.kind == "vgl":
            shown += 1
            cited = ("SKILL.md", "Always read a CSV file before you change it.")
            built = [statement(r, r.name, [cited]) for answer in before for r in answer.statements]
            assert format_text(Source("p.vgl", "\n\n".join(map(to_text, built)) + "\n")) == block.text
    assert shown == 1


def test_it_names_all_there_is() -> None:
    named = set(re.findall(r"`([^`\n]+)`", TEXT))
    for struct in (
        clause_result.Answer,
        clause_result.Requirement,
        clause_result.Counting,
        clause_result.Condition,
        clause_result.Case,
        clause_result.Test,
        clause_result.View,
    ):
        assert set(struct.__struct_fields__) <= named
    assert set(get_args(clause_result.ViewName)) <= named
    assert set(PARTS) | {"is", "other_than", "unlike_glob", "unlike_regex", "present", "same", "mentions"} <= named


def test_its_limits_are_those_that_hold() -> None:
    numbers = [int(n.replace(",", "")) for n in re.findall(r"\b[0-9,]+\b", TEXT.split("## Limits", 1)[1])]
    assert numbers == [
        operands.MAX_VALUE,
        conditions.MAX_VALUES,
        conditions.MAX_TESTS,
        conditions.MAX_CASES,
        conditions.MAX_VIEWS,
        document.MAX_STATEMENTS,
        document.MAX_TEXT,
        document.MAX_ANSWERS,
        document.MAX_CHARACTERS,
    ]
