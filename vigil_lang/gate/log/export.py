"""The log in the forms that security tools take in: OCSF (API Activity) and OpenTelemetry logs (OTLP as JSON).

Only what stands in the log in clear is exported.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.log.log import moment
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

OCSF_VERSION = "1.6.0"
API_ACTIVITY = 6003
"""OCSF's class for calls of an interface, in its category 6, Application Activity."""

_OTHER = 99
_SEVERITY = {"pass": 1, "hold": 3, "block": 4}
"""OCSF: informational, medium, high."""

_STATUS = {"pass": 1, "block": 2}
"""OCSF: success, failure; a hold is neither yet."""

_NUMBERS = {"pass": 9, "hold": 13, "block": 17}
"""OpenTelemetry: INFO, WARN, ERROR."""

_LEVELS = {9: "INFO", 13: "WARN", 17: "ERROR"}
_BATCH = 100


def ocsf(entries: Iterable[tuple[int, Mapping[str, Any]]], origin: str) -> Iterator[dict[str, Any]]:
    """Each entry as an event of API Activity (class 6003); a decision has its reasons as authorizations.

    `origin` is the log's name.
    """
    for seq, entry in entries:
        kind, mode = str(entry["kind"]), entry.get("mode")
        at = moment(entry["at"])
        agent = entry.get("agent")
        actor: dict[str, Any] = {"app_name": str(agent or "vigil")}
        if entry.get("user") is not None:
            actor["user"] = {"name": str(entry["user"])}
        if entry.get("run") is not None:
            actor["session"] = {"uid": str(entry["run"])}
        if kind == "decision":
            actor["authorizations"] = _authorizations(entry)
        event: dict[str, Any] = {
            "activity_id": _OTHER,
            "activity_name": kind,
            "actor": actor,
            "api": {"operation": f"gate.{kind}", "service": {"name": "vigil"}},
            "category_name": "Application Activity",
            "category_uid": 6,
            "class_name": "API Activity",
            "class_uid": API_ACTIVITY,
            "message": sentence(entry),
            "metadata": {
                "event_code": kind,
                "log_name": origin,
                "original_time": entry["at"],
                "product": {"name": "Vigil", "vendor_name": "Vigil", "version": __version__},
                "sequence": seq,
                "uid": f"{origin}/{seq}",
                "version": OCSF_VERSION,
            },
            "severity_id": _SEVERITY.get(str(mode), 4 if kind == "fault" else 1),
            "src_endpoint": {"name": str(agent or "vigil")},
            "time": at // 1000,
            "type_name": "API Activity: Other",
            "type_uid": API_ACTIVITY * 100 + _OTHER,
            "unmapped": {name: value for name, value in entry.items() if name not in ("v", "at", "kind")},
        }
        if kind == "decision":
            event["status_id"] = _STATUS.get(str(mode), _OTHER)
            event["status"] = str(mode)
        yield event


def _authorizations(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    policy = {"uid": str(entry.get("policy_digest", "")), "name": "policies in force"}
    found = [{"decision": str(entry.get("mode")), "policy": policy}]
    for each in _reasons(entry):
        told = {"name": reason_name(each), "uid": str(each.get("at") or reason_name(each))}
        if each.get("message"):
            told["desc"] = str(each["message"])
        found.append({"decision": str(each.get("asks")), "policy": told})
    return found


def otel(entries: Iterable[tuple[int, Mapping[str, Any]]], origin: str) -> Iterator[dict[str, Any]]:
    """The entries as OpenTelemetry log records, a hundred in each object: an OTLP export request as JSON."""
    left = iter(entries)
    while batch := [_record(seq, entry) for seq, entry in islice(left, _BATCH)]:
        yield {
            "resourceLogs": [
                {
                    "resource": {"attributes": _attributes({"service.name": "vigil", "vigil.log": origin})},
                    "scopeLogs": [{"scope": {"name": "vigil.gate", "version": __version__}, "logRecords": batch}],
                }
            ]
        }


def _record(seq: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(entry["kind"])
    number = _NUMBERS.get(str(entry.get("mode")), 17 if kind == "fault" else 9)
    nanoseconds = str(moment(entry["at"]) * 1000)
    members = {f"vigil.{name}": value for name, value in entry.items() if name not in ("v", "at", "kind")}
    return {
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": number,
        "severityText": _LEVELS[number],
        "eventName": f"vigil.{kind}",
        "body": {"stringValue": sentence(entry)},
        "attributes": _attributes({"vigil.seq": seq, **members}),
    }


def _attributes(members: Mapping[str, object]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _any_value(value)} for name, value in members.items() if value is not None]


def _any_value(value: object) -> dict[str, Any]:
    """A value as OTLP writes it: an integer is a text, for 64 bits do not fit into a number of JSON."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case list() | tuple():
            return {"arrayValue": {"values": [_any_value(each) for each in value]}}
        case dict():
            return {"kvlistValue": {"values": _attributes(value)}}
        case _:
            return {}


def _reasons(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The reasons of a decision, whoever wrote them."""
    told = entry.get("reasons")
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []


def reason_name(reason: Mapping[str, Any]) -> str:
    """What a reason is called: the rule with its layer, or what it is."""
    return f"{reason.get('layer') or reason.get('kind')}.{reason.get('name')}"


def sentence(entry: Mapping[str, Any]) -> str:
    """What an entry says, in a few words."""
    kind = entry.get("kind")
    match kind:
        case "decision":
            said = ", ".join(map(reason_name, _reasons(entry)))
            observed = ", only observed" if entry.get("observed") else ""
            return f"{entry.get('mode')}{f': {said}' if said else ''}{observed}"
        case "outcome":
            ended = f"ended {entry.get('status')}" if entry.get("executed", True) else "was not made"
            return f"call of decision {entry.get('decision')} {ended}"
        case "unasked":
            return f"a call was made without a pass, and ended {entry.get('status')}"
        case "message":
            return f"the {entry.get('role')} said something"
        case "turn_end":
            return f"a turn ends{' of ' + str(entry.get('session')) if entry.get('session') else ''}"
        case "halt":
            return f"run is halted: {entry.get('why')}"
        case "resume":
            return "run goes on"
        case "run_policy":
            return f"policies {entry.get('policy_digest')} of the run from now on ({entry.get('why')})"
        case "policy_change":
            return f"{entry.get('path')} {'is gone' if entry.get('digest') is None else 'has changed'}"
        case "approval" | "denial" | "expiry" | "cancellation" | "escalation":
            person = entry.get("person")
            by = entry.get("by") if person is None else f"a passkey of the person {person}"
            return f"{kind} of hold {entry.get('hold')}{f' by {by}' if by else ''}"
        case "person":
            return f"person {entry.get('id')}: {entry.get('change')} by {entry.get('by')}"
        case "sign_in":
            return f"{entry.get('person')} signs in by {entry.get('how')} from {entry.get('address')}"
        case "sign_out":
            which = "all sessions end" if entry.get("session") is None else "a session ends"
            return f"{which} of {entry.get('person')}"
        case "session":
            return f"{entry.get('agent')} proved its key {entry.get('key')}"
        case "access_refused":
            count = entry.get("count")
            times = f"{count} times " if count != 1 else ""
            return f"{times}{entry.get('what')} refused from {entry.get('address')}: {entry.get('message')}"
        case "telling" | "told":
            return f"{kind} {entry.get('notice')} by {entry.get('way')}"
        case "log_key":
            return f"the key {entry.get('key')} signs the log from now on, in the place of {entry.get('before')}"
        case "signal":
            return f"{entry.get('source')} says {entry.get('score')}"
        case "tier":
            return f"tier {entry.get('level')}: {entry.get('why')}"
        case "revocation":
            revoked = entry.get("revoked")
            return f"list {entry.get('seq')} revokes {len(revoked) if isinstance(revoked, list) else 'nothing'}"
        case "policy":
            return f"policies {entry.get('policy_digest')}"
        case "run_start":
            return f"run of {entry.get('agent')} begins"
        case "run_end":
            return "run ends"
        case "recovered":
            return f"a torn last line of {entry.get('bytes')} bytes was dropped"
        case _:
            return str(entry.get("message") or kind)
