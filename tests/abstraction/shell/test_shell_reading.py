"""What is read out of command lines: words, directories, redirections, pipes, and what is not known."""

# ruff: noqa: E501  # a line a case

from __future__ import annotations

import pytest

from vigil_lang.abstraction.shell import Command, Reading, Redirect, ShellState, read_shell, shell_text
from vigil_lang.abstraction.step import Word


def read(text: str, **state: object) -> Reading:
    return read_shell(text, ShellState(**{"cwd": "/r", **state}))  # type: ignore[arg-type]


def shown(word: Word | None) -> str:
    """A word with `?` before it if it is not known, and `*` after it if it is a pattern."""
    return "" if word is None else f"{'' if word.known else '?'}{word.text}{'*' if word.glob else ''}"


def lines(reading: Reading) -> list[str]:
    """Each command with its directory, where that is not /r, and what it redirects."""
    return [line(command) for command in reading.commands]


def line(command: Command) -> str:
    parts = [] if command.cwd == "/r" else [f"[{command.cwd}]"]
    parts += [f"{name}={shown(value)}" for name, value in command.assignments]
    parts += map(shown, command.words)
    for redirect in command.redirects:
        fd = "" if redirect.fd is None else str(redirect.fd)
        parts.append(f"{fd}{redirect.op}{shown(redirect.target)}{shown(redirect.body)}")
    return " ".join(parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # lists and compound commands
        ("", []),
        ("a; b\nc && d || e & f", ["a", "b", "c", "d", "e", "f"]),
        ("# nothing\na # b\nc#d", ["a", "c#d"]),
        ("a \\\n b\r\nc\r\n", ["a b", "c"]),
        ("{ a; b; }; (c; d)", ["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("case $x in a|'b c') d;; (e) f;& *) g; esac", ["d", "f", "g"]),
        ("case a in\n  x)\n    b\n    ;;\nesac", ["b"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("select x in a b; do c $x; done", ["c ?$x"]),
        ("if a; then { b; } fi; c", ["a", "b", "c"]),
        ("time { a; b; }; time -p c; coproc d; coproc N { e; }", ["a", "b", "time -p c", "d", "e"]),
        ("! { a; }; ! ! b; ! (c)", ["a", "b", "c"]),
        ("exit 1; a", ["exit 1"]),
        ("a || exit 1; b", ["a", "exit 1", "b"]),
        ("true || a; false && b; c", ["true", "false", "c"]),
        ("((x = 1 + 2)); a $x; let y=x*2; a $y", ["(( x = 1 + 2 ))", "a 3", "let y=x*2*", "a 6"]),
        ("[[ -f $x && ( a < b ) ]] && [ -d y ]", ["[[ -f ?$x && ( a < b ) ]]", "[ -d y ]"]),
        ("((a); (b))", ["a", "b"]),
        ("exec 3< f; exec a", ["exec 3<f", "exec a"]),
        ("source x; . y", ["source x", "[None] . y"]),
        ("a && b & c", ["a", "b", "c"]),
        # loops
        ("for i in a {1..2} 'b c'; do x $i; done", ["x a", "x 1", "x 2", "x b c"]),
        ("for i in 1 2; do for j in a b; do x $i$j; done; done", ["x 1a", "x 1b", "x 2a", "x 2b"]),
        ("for i in $(seq 2 -1 1); do x $i; done", ["seq 2 -1 1", "x 2", "x 1"]),
        ("for ((i = 0; i < 4; i += 2)); do x $i; done; y $i", ["x 0", "x 2", "y 4"]),
        ("for ((i=0; i<n; i++)); do x $i; done", ["x ?$i"]),
        ("for ((;;)); do x; break; done; y", ["x", "break", "y"]),
        ("for ((i=0;i<3;i++)) do x $i; i=$y; done", ["x 0", "x ?$i"]),
        ("for f in *.c; do x $f \"$f\"; done; y $f", ["x *.c* *.c*", "y ?$f"]),
        ("for f in a $x; do y $f; done", ["y ?$f"]),
        ("for f\ndo x $f; done", ["x ?$f"]),
        ("set -- p q; for f; do x $f; done; shift; y $1 $#", ["set -- p q", "x p", "x q", "shift", "y q 1"]),
        ("i=0; while a; do i=$((i+1)); cd x; done; b $i", ["[None] a", "[None] cd x", "[None] b ?$i"]),
        ("for i in 1 2 3; do if a; then break; fi; x $i; done", [*["a", "break", "x 1"], *["a", "break", "x 2"], *["a", "break", "x 3"]]),
        ("while read -r a b; do c $a; done < f", ["read -r a b", "c ?$a", "<f"]),
        ("for a in 1; do while b; do continue 2; done; c; done; d", ["b", "continue 2", "c", "d"]),
        # functions
        ("f() { a \"$1\" $# \"$@\"; }; f 'x y' z", ["a x y 2 x y z"]),
        ("f() { a; }", []),
        ("function f { local v=1 w; a $v $w; v=2; }; v=0; f; b $v", ["local v=1 w", "a 1", "b 0"]),
        ("f() { f; a; }; f", ["f", *["[None] a"] * 8]),
        ("f() ( cd x; a ) ; f; b", ["cd x", "[/r/x] a", "b"]),
        ("f() { return; a; }; f; b", ["return", "b"]),
        ("f() { a; }; f > o; unset -f f; f", ["a", ">o", "unset -f f", "f"]),
        ("eval 'a b; c' '$x'; eval $y", ["a b", "c ?$x", "eval ?$y"]),
        ("trap 'a $x' EXIT; x=1; b", ["trap a $x EXIT", "b", "a 1"]),
        # directories
        ("cd x && a; b", ["cd x", "[/r/x] a", "[/r/x] b"]),
        ("(cd x; a); b", ["cd x", "[/r/x] a", "b"]),
        ("cd x | a; b", ["cd x", "a", "b"]),
        ("cd x || exit; a", ["cd x", "exit", "[/r/x] a"]),
        ("cd x || cd y; a", ["cd x", "cd y", "[None] a"]),
        ("cd x || mkdir x; a", ["cd x", "mkdir x", "[None] a"]),
        ("a && cd x; b", ["a", "cd x", "[None] b"]),
        ("if a; then cd x; else cd x; fi; b", ["a", "cd x", "cd x", "[/r/x] b"]),
        ("cd; a; cd -; b", ["cd", "[~] a", "[~] cd -", "b"]),
        ("cd ~/x; cd ..; a", ["cd ~/x", "[~/x] cd ..", "[~] a"]),
        ("cd $x; a; cd /y; b", ["cd ?$x", "[None] a", "[None] cd /y", "[/y] b"]),
        ("cd '~'; a", ["cd ~", "[/r/~] a"]),
        ("cd -P x; cd ''; a; cd a b; c", ["cd -P x", "[/r/x] cd ", "[/r/x] a", "[/r/x] cd a b", "[None] c"]),
        ("pushd x; a; pushd; b; popd; c", ["pushd x", "[/r/x] a", "[/r/x] pushd", "b", "popd", "[/r/x] c"]),
        ("popd; a", ["popd", "[None] a"]),
        ("pushd +1; a", ["pushd +1", "[None] a"]),
        ("builtin cd x; command -v cd; a $PWD $OLDPWD", ["builtin cd x", "[/r/x] command -v cd", "[/r/x] a /r/x /r"]),
        # words
        ("a=1 b=$a c d=2", ["a=1 b=1 c d=2"]),
        ("x=a; x=b c $x; d $x", ["x=b c a", "d a"]),
        ("$x a; \"$y\"", ["?$x a", "?$y"]),
        ("a $HOME/x \"$HOME\" ~ ~/y ~u/z ~+", ["a ~/x ~ ~ ~/y ~u/z /r"]),
        ("HOME=/h; a ~/x $HOME", ["a /h/x /h"]),
        ("a $? $$ $RANDOM ${!x} ${x@Q} ${x:-$(b)}", ["b", "a ?$? ?$$ ?$RANDOM ?${!x} ?${x@Q} ?${x:-$(b)}"]),
        ("x=$(a); b $x", ["a", "b ?$x"]),
        ("read x; a $x; mapfile -t y; a $y; printf -v z 1; a $z; read -a v; a $v", ["read x", "a ?$x", "mapfile -t y", "a ?$y", "printf -v z 1", "a ?$z", "read -a v", "a ?$v"]),
        ("getopts ab: o; a $o $OPTARG; read; a $REPLY", ["getopts ab: o", "a ?$o ?$OPTARG", "read", "a ?$REPLY"]),
        ("x='a b'; c $x \"$x\"", ["c a b a b"]),
        ("x=; a $x \"$x\" b; unset x; a ${x-c} ${#x}", ["a  b", "unset x", "a c 0"]),
        ("a=(x 'y z'); b \"${a[@]}\" ${a[1]} ${#a[@]} $a; a+=(w); b ${a[2]}; a[0]=v; b $a", ["b x y z y z 2 x", "b w", "b v"]),
        ("a=([2]=x); b $a; c[$i]=1; b $c; d=(1); d[9]=2; b $d; unset d[0]", ["b ?$a", "b ?$c", "b ?$d", "unset d[0]*"]),
        ("x=a; x+=b; c $x; y+=b; c $y", ["c ab", "c ?$y"]),
        ("export A=1 B; b $A; readonly C=$z; declare -i D=1+1; b $D; export", ["export A=1 B", "b 1", "readonly ?C=$z", "declare -i D=1+1", "b ?$D", "export"]),
        ("a $((1 + x)) $((n=2)) $n $((n++ + m)) $n ${y:=3} $y", ["a ?$((1 + x)) 2 2 ?$((n++ + m)) ?$n ?${y:=3} ?$y"]),
        ("x=/a/b.tar.gz; c ${x##*/} ${x%%.*} ${x/b/$q} ${x^^} ${x:3:1} ${x: -2} ${x:$n} ${x#[[:alpha:]]}", ["c b.tar.gz /a/b ?${x/b/$q} /A/B.TAR.GZ b gz ?${x:$n} ?${x#[[:alpha:]]}"]),
        ("IFS=:; x=a:b; c $x \"$x\" $(echo a:b)", ["echo a:b", "c ?$x a:b ?$(echo a:b)"]),
        ("a *.c '*.c' [ab] \"*\"$x [ ]", ["a *.c* *.c [ab]* ?*$x [ ]"]),
        ("a $'x\\ty' $\"z\" \\* \"\\$x\"", ["a x\ty z * $x"]),
        ("a {b,c}{1,2} {x} '{y,z}' {01..3} {c..a..2} {$i,2} {1..x}", ["a b1 b2 c1 c2 {x} {y,z} 01 02 03 c a ?$i 2 {1..x}"]),
        ("a \ud800 é \u2028", ["a \ud800 é \u2028"]),
        # substitutions
        ("a $(b | c) `d $(e)` \"$(f \"g h\")\"", ["b", "c", "e", "d ?$(e)", "f g h", "a ?$(b | c) ?`d $(e)` ?$(f \"g h\")"]),
        ("a $(pwd) $(echo -n x y) $(printf '%s-%d\\n' a 1) $(basename /x/y.c .c) $(dirname x) $(dirname /x)", ["pwd", "echo -n x y", "printf %s-%d\\n a 1", "basename /x/y.c .c", "dirname x", "dirname /x", "a /r x y a-1 y . /"]),
        ("a $(basename y/) $(echo $x) $(echo a > f) $(printf %x 1) $(seq 9 a) $(echo a; echo b)", ["basename y/", "echo ?$x", "echo a >f", "printf %x 1", "seq 9 a", "echo a", "echo b", "a y ?$(echo $x) ?$(echo a > f) ?$(printf %x 1) ?$(seq 9 a) ?$(echo a; echo b)"]),
        ("git commit -m \"$(cat <<'EOF'\nDon't $x\nEOF\n)\"", ["cat <<Don't $x\n", "git commit -m Don't $x"]),
        ("a $(cat <<EOF\nb\nEOF)", ["cat <<b\n", "a b"]),
        ("diff <(a b) <(c) > >(d)", ["a b", "c", "d", "diff ?<(a b) ?<(c) >("]),
        # redirections
        ("a > b 2>> c 2>&1 &> d &>> e >| f <> g < h {v}> i", ["a >b 2>>c 2>&1 &>d &>>e >|f <>g <h >i"]),
        ("> a; >b c", [">a", "c >b"]),
        ("a <<X <<-'Y' > f && b\n1 $x\nX\n\t2 $x\n\tY\nc", ["a <<?1 $x\n <<-2 $x\n >f", "b", "c"]),
        ("x=1; cat <<X | a; b\n$x `c` \\$y\nX\n", ["c", "cat <<?1 `c` $y\n", "a", "b"]),
        ("a <<< \"b $x\" <<< c", ["a <<<?b $x <<<c"]),
        ("(a; b) > o 2>&1; { c; } < i | d; while e; do f; done <<X > g\n1\nX", ["a", "b", ">o 2>&1", "c", "<i", "d", "e", "f", "<<1\n >g"]),
        ("a > $x > *.c > {b,c}", ["a >?$x >*.c* >?{b,c}"]),
    ],
)  # fmt: skip
def test_reading(text: str, expected: list[str]) -> None:
    reading = read(text)
    assert lines(reading) == expected
    assert [t for t in reading.trouble if "is not followed" not in t] == []


def test_a_command_has_what_a_step_needs() -> None:
    reading = read("a 'b c' | tail -3\n\nx=1 d > 'o ut'")
    assert reading.commands == (
        Command(
            (Word("a"), Word("b c", quoted=True)), (), (), "/r", "a 'b c'", "unknown", "unknown", True, None, True, 1
        ),
        Command((Word("tail"), Word("-3")), (), (), "/r", "tail -3", "unknown", "unknown", True, 0, False, 1, fed=True),
        Command(
            (Word("d"),),
            (("x", Word("1")),),
            (Redirect(">", Word("o ut", quoted=True)),),
            "/r",
            "x=1 d > 'o ut'",
            "ok",
            "error",
            True,
            None,
            False,
            3,
        ),
    )


def test_home_in_quotes_is_home_and_a_tilde_in_quotes_is_not() -> None:
    words = read('d=~/x; a "$HOME/x" \'~/x\' "$d" ~/x').commands[0].words[1:]
    assert [(word.text, word.quoted) for word in words] == [
        ("~/x", False),
        ("~/x", True),
        ("~/x", False),
        ("~/x", False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b | c", "0>- 1>0 -:1"),
        ("a |& { b; c; } | d", "0>- 1>0 2>- -:2"),
        ("(a; b) | c", "0>- 1>- -:1"),
        ("a | while read x; do b; done", "0>- -:0 -:-"),
        ("a $(b | c) | d", "0>- 1>0 2>- -:2"),
        ("a | b $(c)", "0>- 1>- -:0"),
        ("a | tee >(b) | c", "0>- -:2 2>0 -:2"),
    ],
)
def test_pipes(text: str, expected: str) -> None:
    """For each command its index if its output goes on, and whose output it reads."""
    found = [
        f"{index if c.piped_to else '-'}{'>' if c.piped_to else ':'}{'-' if c.piped_from is None else c.piped_from}"
        for index, c in enumerate(read(text).commands)
    ]
    assert " ".join(found) == expected


def test_the_state_goes_on() -> None:
    reading = read("x=1; f() { cd $x; }; set -euo pipefail; cd y")
    after = reading.after
    assert (after.cwd, after.previous, after.errexit, after.pipefail) == ("/r/y", "/r", True, True)
    assert after.variables == {"x": (Word("1"),)}
    assert lines(read_shell("f; a $x", after)) == ["[/r/y] cd 1", "[/r/y/1] a 1"]


def test_what_a_branch_changes_is_not_known_afterwards() -> None:
    after = read("if a; then x=1; y=1; set -e; f() { b; }; pushd z; set -- q; else y=1; fi").after
    assert (after.cwd, after.errexit, after.arguments, after.pushed) == (None, None, None, ())
    assert (after.variables["x"][0].known, after.variables["y"]) == (False, (Word("1"),))
    assert after.functions["f"] is None


def test_a_relative_start() -> None:
    reading = read("cd x; a $PWD", cwd=".")
    assert lines(reading) == ["[.] cd x", "[x] a ?$PWD"]


def test_options_of_the_shell() -> None:
    assert read("set -o errexit -o $x").after.errexit is None
    assert read("set $x").after.errexit is None
    assert read("set -x -").after.arguments is None
    assert read("set a b").after.arguments == (Word("a"), Word("b"))
    assert lines(read("set -o pipefail; a && set +o pipefail; b | c"))[-1] == "c"


@pytest.mark.parametrize(
    ("text", "commands", "trouble"),
    [
        ("a; echo 'b", ["a", "echo b"], "line 1: a quote is not closed"),
        ('a\nb "c', ["a", "b c"], "line 2: a quote is not closed"),
        ("a $'b", ["a b"], "line 1: a quote is not closed"),
        ("a `b", ["b", "a ?`b"], "line 1: a backtick is not closed"),
        ("a $(b", ["b", "a ?$(b"], "line 1: `$(` is not closed"),
        ("a ${b", ["a ?${b"], "line 1: `${` is not closed"),
        ("a=(b", [], "line 1: `(` is not closed"),
        ("[[ a", ["[[ a"], "line 1: `[[` is not closed"),
        ("a\nb ) c", ["a", "b c"], "line 2: `)` closes nothing"),
        ("a > ; b", ["a", "b"], "line 1: a redirection `>` has no target"),
        ("a; fi; b", ["a", "b"], "line 1: not understood as Bash"),
        ("a && ; b", ["a", "b"], "line 1: not understood as Bash"),
        ("a\n\nif b; then c", ["a", "b", "c"], "line 1: not understood as Bash"),
        ("foreach ($f in Get-ChildItem) { del $f }", None, "line 1: not understood as Bash"),
        ("a\0b", ["ab"], "it has NUL bytes, which no shell can be given"),
    ],
)
def test_what_is_no_bash_is_told(text: str, commands: list[str] | None, trouble: str) -> None:
    reading = read(text)
    assert reading.trouble[0] == trouble
    if commands is not None:
        assert lines(reading) == commands
    if "NUL" not in trouble:
        assert all((c.if_ok, c.if_error, c.certain) == ("unknown", "unknown", False) for c in reading.commands)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bash -c 'a b'", "a b"),
        ("/bin/sh -lc a x", "a"),
        ("bash -e -o pipefail -c a", "a"),
        ("bash --norc -euo pipefail -c a", "a"),
        ("bash -c -x a", "a"),
        ("bash x.sh -c a", None),
        ("bash -x", None),
        ("$sh -c a", None),
        ("python -c a", None),
    ],
)
def test_the_text_for_another_shell(text: str, expected: str | None) -> None:
    found = shell_text(read(text).commands[0].words)
    assert (found and found.text) == expected
    assert shell_text(()) is None
