"""The schemas of the intermediate form: the stored one is made of the code, a model's is one the API takes.

After a change: ``VIGIL_UPDATE=1 pytest tests/draft/test_draft_schema.py``.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from vigil_lang.base.resources import resource
from vigil_lang.draft import clause_result
from vigil_lang.draft.building import build
from vigil_lang.draft.schema import for_model, published, published_text

STORED = Path(__file__).parents[2] / "docs" / "policy-document.schema.json"
STRUCTS = (
    clause_result.PolicyDocument,
    clause_result.Answer,
    clause_result.Requirement,
    clause_result.Counting,
    clause_result.Condition,
    clause_result.Case,
    clause_result.Test,
    clause_result.View,
)


def test_the_stored_schema_is_the_forms() -> None:
    if os.environ.get("VIGIL_UPDATE"):
        STORED.write_text(published_text(), encoding="utf-8")
    assert STORED.read_text(encoding="utf-8") == published_text()
    assert resource("policy-document.schema.json").read_bytes() == STORED.read_bytes()


def test_both_are_schemas() -> None:
    Draft202012Validator.check_schema(published())
    Draft202012Validator.check_schema(for_model())


def test_each_member_is_described() -> None:
    shapes = [published(), *published()["$defs"].values()]
    assert all(shape["description"] for shape in shapes)
    assert all(member["description"] for shape in shapes for member in shape["properties"].values())
    for struct, shape in zip(STRUCTS, shapes, strict=True):
        assert set(shape["properties"]) - {"$schema"} == set(struct.__struct_fields__)


def test_a_models_schema_is_what_the_api_takes() -> None:
    """The SDK knows what the API refuses, and rewrites a schema so that there is none of it: here is nothing to do."""
    from anthropic import transform_schema  # takes a second to import, and others who collect tests need it not

    assert transform_schema(for_model()) == for_model()


def _objects(schema: Any) -> list[dict[str, Any]]:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = [schema] if isinstance(schema, dict) and schema.get("type") == "object" else []
    return own + [found for value in inner for found in _objects(value)]


def test_a_model_leaves_nothing_out() -> None:
    objects = _objects(for_model())
    assert len(objects) == len(STRUCTS)
    for shape in objects:
        assert shape["required"] == list(shape["properties"])
        assert shape["additionalProperties"] is False


def test_a_models_schema_goes_in_no_circle() -> None:
    def names(part: Any) -> set[str]:
        text = json.dumps(part)
        return {name for name in for_model()["$defs"] if f'"#/$defs/{name}"' in text}

    def follow(name: str, above: tuple[str, ...]) -> None:
        assert name not in above
        for other in names(for_model()["$defs"][name]):
            follow(other, (*above, name))

    follow("Answer", ())


def test_the_schemas_differ_in_what_the_api_does_not_take() -> None:
    """The choices, types and nesting are the same."""
    whole, asked = published(), for_model()
    for name, shape in asked["$defs"].items():
        stored = whole["$defs"][name]["properties"]
        assert set(stored) - set(shape["properties"]) == ({"sentence"} if name == "Answer" else set())
        for member, own in shape["properties"].items():
            for word in ("enum", "type", "$ref"):
                assert own.get(word) == stored[member].get(word), (name, member)


def test_a_model_cannot_answer_with_a_rule_of_the_gate() -> None:
    """What lowers a decision is written by people: an answer has requirements, and each becomes a statement."""
    words = set(re.findall(r"\w+", json.dumps(for_model())))
    assert words.isdisjoint({"relaxes", "violates", "pass"})
    assert build.statement.__annotations__["return"] == "tree.Statement"
