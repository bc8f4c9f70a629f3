"""The shell script that hosts run: it runs our program, and answers for it where it does not.

Most hosts make a call whose hook is missing, killed, slow, or prints garbage. The script lets nothing through but an
answer that ends with the mark, of a program that ended with status 0. It is POSIX shell and needs only `sleep` beside.
"""

from __future__ import annotations

MARK = "vigil:done"
"""The last line of a whole answer."""

SCRIPT = """\
v_n=$1 v_f=$2; shift 2
{ command exec 3<&0; } 2>/dev/null || exec 3</dev/null
{ "$@" --mark <&3 3<&- & v_p=$!
(trap "kill \\$!; exit" TERM; sleep $v_n & wait $!; kill -9 $v_p) </dev/null >/dev/null 2>&1 3<&- & v_w=$!
wait $v_p; echo vigil:exit $?; kill $v_w 2>/dev/null; } | { v_o= v_d= v_c=0
while IFS= read -r v_l; do case $v_l in
vigil:done) v_d=1;; "vigil:exit 0") [ $v_d ] && { printf %s "$v_o" && exit 0; }; break;; vigil:exit*) break;;
*) v_d= v_o="$v_o$v_l
" v_c=$((v_c+1)); [ $v_c -gt 99 ] && break;; esac; done
[ -z "$v_f" ] || printf "%s\\n" "$v_f" || { echo "Vigil did not answer" >&2; exit 2; }
exit 0; }"""
"""`SCRIPT SECONDS FAULT PROGRAM…`: PROGRAM is killed after SECONDS, and FAULT printed where it did not answer.

What POSIX shells start in the background has no standard input, hence descriptor 3. What holds the pipe open after our
program ended is not waited for. Names begin with `v_`: one host replaces variables of the environment in its settings.
More than 99 lines are no answer of ours.
"""

SHELL = "/bin/sh"


def wrapped(program: list[str], seconds: int, fault: str) -> list[str]:
    """The command that runs a program, gives it some seconds, and prints `fault` where it did not answer."""
    return [SHELL, "-c", SCRIPT, "vigil", str(seconds), fault, *program]


def unwrapped(command: list[str]) -> tuple[int, str, list[str]] | None:
    """The seconds, the answer for faults, and the program of a command that `wrapped` made; None for another."""
    if len(command) < 7 or command[:4] != [SHELL, "-c", SCRIPT, "vigil"] or not command[4].isdigit():
        return None
    return int(command[4]), command[5], command[6:]
