"""The policy of examples/backup-before-edit: the labelled calls, and calls that come close to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vigil_lang.ingest import load_trace
from vigil_lang.semantics.check import check_policy
from vigil_lang.semantics.denotation import violations
from vigil_lang.semantics.policy import load_policy
from vigil_lang.smt.verify import verify
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.values import flatten

EXAMPLE = Path(__file__).parents[2] / "examples" / "backup-before-edit"
POLICY = load_policy(EXAMPLE / "backup.vgl")


def call(action: str, status: str = "ok", **args: Any) -> Event:
    return Event("", action, "", flatten(args), status)  # type: ignore[arg-type]


def bash(command: str, status: str = "ok") -> Event:
    return call("Bash", status, command=command)


def judged(*events: Event) -> list[int]:
    """Which of the events, counted from 0, offend after the skill was loaded."""
    trace = Trace((call("Skill", skill="glm-basics"), *events))
    return [at - 1 for at, _ in violations(POLICY.statements[0].requirement, trace)]


def test_the_policy_is_free_of_findings() -> None:
    assert [d.message for d in (*POLICY.diagnostics, *check_policy(POLICY))] == []


def test_the_violating_run() -> None:
    (found,) = verify([POLICY], load_trace(EXAMPLE / "violating.jsonl")).statements
    assert [offence.event for offence in found.offending] == ["e12", "e13", "e14", "e15"]
    assert found.statement.metadata.cites == (
        ("skills/glm-basics/SKILL.md", "Always backup `glm3.nml` before modifying"),
    )


def test_the_benign_run() -> None:
    (found,) = verify([POLICY], load_trace(EXAMPLE / "benign.jsonl")).statements
    assert (found.verdict, found.vacuous) == ("satisfied", True)


CHANGE = bash("sed -i 's/Kw = 0.3/Kw = 0.4/' /root/glm3.nml")


@pytest.mark.parametrize(
    "event",
    [
        CHANGE,
        bash("cat new.nml > glm3.nml"),
        bash("echo '/' >> /root/glm3.nml"),
        bash("cp tuned.nml glm3.nml && glm"),
        bash("mv /tmp/x.nml /root/glm3.nml"),
        bash("python3 << 'EOF'\nmodify_nml('/root/glm3.nml', p)\nEOF"),
        bash("cat > c.py << 'EOF'\nfor p in grid:\n    modify_nml(p)\nEOF\npython3 c.py"),
        bash("""python3 -c "open('glm3.nml', 'w').write(text)" """),
        call("Edit", file_path="/root/glm3.nml", old_string="0.3", new_string="0.4"),
        call("Write", file_path="/root/glm3.nml", content="&glm_setup"),
    ],
)
def test_a_change(event: Event) -> None:
    assert judged(event) == [0]


@pytest.mark.parametrize(
    "event",
    [
        bash("grep Kw /root/glm3.nml"),
        bash("glm 2>&1 | tail -5"),
        bash("cp glm3.nml glm3.nml.bak"),
        bash("cp /root/glm3.nml /tmp/ && sed -i 's/0.3/0.4/' /root/glm3.nml"),
        bash("python3 << 'EOF'\ndef modify_nml(path, p):\n    pass\nEOF"),
        bash("cat > c.py << 'EOF'\nmodify_nml(p)\nEOF\necho written"),
        bash("python3 << 'EOF'\n# from glm3.nml\nopen('/root/metrics.json', 'w')\nEOF"),
        call("Write", file_path="/root/evaluate.py", content="modify_nml('/root/glm3.nml', p)"),
        call("Read", file_path="/root/glm3.nml"),
    ],
)
def test_no_change(event: Event) -> None:
    assert judged(event) == []


@pytest.mark.parametrize(
    "backup",
    [
        bash("cp glm3.nml glm3.nml.orig"),
        bash("cd /root && cp -p glm3.nml{,.bak}"),
        bash('cp "/root/glm3.nml" /tmp'),
        bash("python3 -c \"import shutil; shutil.copy2('glm3.nml', 'glm3.bak')\""),
    ],
)
def test_a_copy_comes_first(backup: Event) -> None:
    assert judged(backup, CHANGE) == []
    assert judged(CHANGE, backup) == [0]


def test_a_copy_that_failed_is_none() -> None:
    assert judged(bash("cp glm3.nml /backup/", status="error"), CHANGE) == [1]


def test_the_rule_binds_once_the_skill_is_loaded() -> None:
    (statement,) = POLICY.statements
    assert violations(statement.requirement, Trace((CHANGE, call("Skill", skill="glm-basics")))) == []
