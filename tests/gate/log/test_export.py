"""Exports, held against what OCSF 1.6 requires of API Activity and against OTLP's JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from log_support import append_decision, new_folder, opened

from vigil_lang.gate.log.export import ocsf, otel, sentence
from vigil_lang.gate.log.log import moment

if TYPE_CHECKING:
    from pathlib import Path

    from log_support import Vigil

    from vigil_lang.gate.state import StateFolder

TEXT: dict[str, Any] = {"type": "string"}
API_ACTIVITY: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "activity_id",
        "actor",
        "api",
        "category_uid",
        "class_uid",
        "metadata",
        "severity_id",
        "src_endpoint",
        "time",
        "type_uid",
    ],
    "properties": {
        "activity_id": {"enum": [0, 1, 2, 3, 4, 99]},
        "activity_name": TEXT,
        "actor": {
            "type": "object",
            "additionalProperties": False,
            "anyOf": [{"required": [name]} for name in ("process", "user", "session", "app_name", "app_uid")],
            "properties": {
                "app_name": TEXT,
                "session": {"type": "object", "properties": {"uid": TEXT}, "additionalProperties": False},
                "user": {"type": "object", "properties": {"name": TEXT}, "additionalProperties": False},
                "authorizations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "decision": TEXT,
                            "policy": {
                                "type": "object",
                                "additionalProperties": False,
                                "anyOf": [{"required": ["name"]}, {"required": ["uid"]}],
                                "properties": {"name": TEXT, "uid": TEXT, "desc": TEXT},
                            },
                        },
                    },
                },
            },
        },
        "api": {
            "type": "object",
            "additionalProperties": False,
            "required": ["operation"],
            "properties": {"operation": TEXT, "service": {"type": "object", "properties": {"name": TEXT}}},
        },
        "category_name": {"const": "Application Activity"},
        "category_uid": {"const": 6},
        "class_name": {"const": "API Activity"},
        "class_uid": {"const": 6003},
        "message": TEXT,
        "metadata": {
            "type": "object",
            "additionalProperties": False,
            "required": ["product", "version"],
            "properties": {
                "event_code": TEXT,
                "log_name": TEXT,
                "original_time": TEXT,
                "uid": TEXT,
                "sequence": {"type": "integer"},
                "version": {"const": "1.6.0"},
                "product": {"type": "object", "required": ["vendor_name"], "additionalProperties": TEXT},
            },
        },
        "severity_id": {"enum": [0, 1, 2, 3, 4, 5, 6, 99]},
        "src_endpoint": {"type": "object", "required": ["name"], "additionalProperties": TEXT},
        "status": TEXT,
        "status_id": {"enum": [0, 1, 2, 99]},
        "time": {"type": "integer"},
        "type_name": TEXT,
        "type_uid": {"const": 600399},
        "unmapped": {"type": "object"},
    },
}
"""From ocsf-schema: events/application/api_activity.json, objects/actor.json, authorization.json, policy.json, api.json
and metadata.json, and what all events have in common."""

VALUES = {"stringValue": str, "boolValue": bool, "intValue": str, "doubleValue": (int, float)}


def any_value(value: dict[str, Any]) -> None:
    """That it is an AnyValue of OTLP's common.proto, as JSON."""
    assert len(value) <= 1
    for name, inner in value.items():
        if name == "arrayValue":
            for each in inner["values"]:
                any_value(each)
        elif name == "kvlistValue":
            key_values(inner["values"])
        else:
            assert isinstance(inner, VALUES[name])
            assert name != "intValue" or str(int(inner)) == inner


def key_values(attributes: list[dict[str, Any]]) -> None:
    assert len({each["key"] for each in attributes}) == len(attributes)
    for each in attributes:
        assert set(each) == {"key", "value"}
        any_value(each["value"])


KINDS: dict[str, dict[str, Any]] = {
    "run_start": {"run": "r1", "agent": "mailer", "policy_digest": "p", "authority_digest": "a"},
    "outcome": {"run": "r1", "decision": 1, "status": "ok"},
    "approval": {"hold": "h1", "by": "ed25519:x", "complete": True, "uses": 1},
    "denial": {"hold": "h1", "by": "ed25519:x", "signature": "s"},
    "expiry": {"hold": "h1"},
    "cancellation": {"hold": "h1", "why": "revoked"},
    "escalation": {"hold": "h1", "to": ["ed25519:y"]},
    "signal": {"run": "r1", "source": "invisible", "score": 0.5, "until": 9},
    "tier": {"run": "r1", "level": 2, "why": "invisible"},
    "authority": {"run": "r1", "agent": "mailer", "authority_digest": None, "problems": []},
    "policy": {"policy_digest": "p2"},
    "revocation": {"seq": 1, "revoked": [{"kind": "agent", "name": "mailer"}]},
    "acknowledged": {"run": "r1", "seq": 1},
    "refusal": {"message": "no action"},
    "fault": {"message": "the disk is full"},
    "recovered": {"bytes": 7},
    "run_end": {"run": "r1"},
}


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    folder = new_folder(tmp_path / "state")
    log = opened(folder)
    with folder.lock():
        for kind, members in KINDS.items():
            log.append(kind, members)
        for number in range(120):
            append_decision(log, number, user="alice" if number % 2 else None)
    return folder


def test_every_entry_is_an_event_of_api_activity(folder: StateFolder) -> None:
    log = opened(folder)
    check = jsonschema.Draft202012Validator(API_ACTIVITY).validate
    events = list(ocsf(log.entries(), "vigil.local/x"))
    assert len(events) == log.size
    for (seq, entry), event in zip(log.entries(), events, strict=True):
        check(event)
        assert event["metadata"]["sequence"] == seq
        assert event["time"] == moment(entry["at"]) // 1000
        assert event["unmapped"] == {name: entry[name] for name in entry if name not in ("v", "at", "kind")}
    blocked = next(event for event in events if event.get("status") == "block")
    assert blocked["severity_id"] == 4
    assert blocked["actor"]["authorizations"][1]["policy"]["name"] == "default.block_0"


def test_log_records_are_otlp(folder: StateFolder) -> None:
    log = opened(folder)
    seen = 0
    for request in otel(log.entries(), "vigil.local/x"):
        (resource,) = request["resourceLogs"]
        key_values(resource["resource"]["attributes"])
        (scope,) = resource["scopeLogs"]
        assert 0 < len(scope["logRecords"]) <= 100
        for record in scope["logRecords"]:
            seen += 1
            key_values(record["attributes"])
            any_value(record["body"])
            assert record["severityNumber"] in range(1, 25)
            assert str(int(record["timeUnixNano"])) == record["timeUnixNano"]
    assert seen == log.size


def test_what_entries_say_in_a_few_words(folder: StateFolder) -> None:
    said = [sentence(entry) for _, entry in opened(folder).entries()]
    assert said[:4] == [
        "run of mailer begins", "call of decision 1 ended ok", "approval of hold h1 by ed25519:x",
        "denial of hold h1 by ed25519:x",
    ]  # fmt: skip
    assert "the disk is full" in said
    assert "pass: authority.open" in said


@pytest.mark.parametrize("format_name", ["ocsf", "otel"])
def test_the_verb_writes_an_object_a_line(vigil: Vigil, folder: StateFolder, tmp_path: Path, format_name: str) -> None:
    result = vigil("audit", "export", "--state", folder.path, "--format", format_name)
    assert result.status == 0
    lines = result.out.splitlines()
    assert len(lines) == (137 if format_name == "ocsf" else 2)
    for line in lines:
        json.loads(line)
    written = tmp_path / "out.jsonl"
    assert vigil("audit", "export", "--state", folder.path, "--format", format_name, "-o", written).status == 0
    assert written.read_text() == result.out


def test_a_damaged_log_leaves_no_half_export(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    with folder.log.open("ab") as stream:
        stream.write(b"damage\n")
    result = vigil("audit", "export", "--state", folder.path, "-o", tmp_path / "out.jsonl")
    assert (result.status, (tmp_path / "out.jsonl").exists()) == (2, False)
