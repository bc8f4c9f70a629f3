"""A call that passes and then succeeds breaks nothing by its steps, however its command joins them (R7.11-4, -6)."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.api import parse_policy
from vigil_lang.enforce import run as enforced
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.trace.record import Call, Result

MONITOR = PolicyMonitor(
    [
        parse_policy(
            "policy p\n"
            "statement tested: prec(git.push(), test.run(status = ok))\n"
            "statement since_written: always git.push() implies (not file.write() since test.run(status = ok))\n"
            "statement once: atmost[1](git.push())\n"
        )
    ]
)
STEPS = st.sampled_from(["pytest", "git push", "echo x > a.py", "ls", "true", "git status"])
COMMANDS = st.recursive(
    STEPS,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["&&", "||", ";", "|", "&"]), inner),
        st.builds("({})".format, inner),
        st.builds("if {}; then {}; fi".format, inner, inner),
        st.builds("! {}".format, STEPS),
        st.builds("bash -c '{}'".format, STEPS),
    ),
    max_leaves=6,
)


@given(st.lists(COMMANDS, min_size=1, max_size=3), st.sampled_from([0, 1, enforced.MOST_UNSURE]))
def test_what_passes_and_succeeds_breaks_nothing(commands: list[str], most: int) -> None:
    with patch.object(enforced, "MOST_UNSURE", most):
        run = MONITOR.run()
        for number, command in enumerate(commands):
            call = Call(f"c{number}", "Bash", {"command": command})
            if run.propose(call).decision != "pass":
                continue
            assert run.begin(call) == ()
            assert run.end(Result(call.key, "ok", exit_code=0)) == (), command
