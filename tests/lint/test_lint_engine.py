"""What decides which findings count, whatever rule makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vigil_lang import cache
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, InputError, Note, Source, Span
from vigil_lang.lint import batch, registry
from vigil_lang.lint.baseline import compare, update
from vigil_lang.lint.batch import lint_files
from vigil_lang.lint.codec import decode, encode
from vigil_lang.lint.fixing import mend
from vigil_lang.lint.rule import Rule
from vigil_lang.lint.run import Plan, lint
from vigil_lang.lint.select import DEFAULT, Selection
from vigil_lang.lint.store import Digests, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject

LONE = "statement R0: abs(deploy(env = production))\n"
OTHER = "statement R1: abs(rollback(env = production))\n"


def codes(text: str, plan: Plan | None = None) -> list[str]:
    return [f.code for f in lint(Source("policy.vgl", text), plan or Plan()).findings]


# --- selection ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("select", "ignore", "counts"),
    [
        (("VGL3",), (), True),
        (("VGL301",), ("VGL3",), True),
        (("VGL3",), ("VGL301",), False),
        (("VGL3",), ("VGL3",), False),
        (("VGL4",), (), False),
        (("ALL",), (), True),
        (("ALL",), ("VGL30",), False),
    ],
)
def test_the_longer_prefix_decides(select: tuple[str, ...], ignore: tuple[str, ...], counts: bool) -> None:
    assert Selection(select, ignore).counts("VGL301") is counts


def test_house_style_and_the_inventory_of_extensions_are_off() -> None:
    assert not Selection().counts("VGL803")
    assert not Selection().counts("VGL501")
    assert Selection(("ALL",)).counts("VGL803")
    assert not Selection(("ALL",)).counts("VGL501")
    assert Selection(("ALL", "VGL501")).counts("VGL501")


def test_what_keeps_a_file_from_being_judged_is_never_left_out() -> None:
    broken = "statement R0: abs(deploy()" + " and x()" * 700_000
    assert "VGL003" in codes(broken, Plan(Selection(("VGL3",), ("VGL0",))))


def test_files_have_their_own_ignores_and_codes_their_severity(tmp_path: Path) -> None:
    selection = Selection(DEFAULT, (), {"drafts/": ("VGL3",)}, {"VGL": "info", "VGL301": "error"}, str(tmp_path))
    for folder, expected in (("drafts", []), ("rules", [("VGL301", "error"), ("VGL304", "info")])):
        path = tmp_path / folder / "a.vgl"
        text = LONE + "".join(LONE.replace("R0", name).replace("production", '"x"') for name in ("R1", "R2"))
        found = lint(Source(str(path), text), Plan(selection)).findings
        assert [(f.code, f.severity) for f in found] == expected


# --- comments ----------------------------------------------------------------------------------------------


def test_a_comment_behind_code_speaks_of_its_line() -> None:
    text = (
        LONE.rstrip() + "  // vigil: ignore[VGL301] any environment\n" + LONE.replace("R0", "R1").replace("env", "to")
    )
    linted = lint(Source("policy.vgl", text), Plan())
    assert [(f.code, f.source.position(f.span.start)[0]) for f in linted.findings] == [("VGL301", 2)]
    assert [f.code for f in linted.suppressed] == ["VGL301"]


def test_a_comment_on_its_own_line_speaks_of_the_item_below() -> None:
    text = (
        "// vigil: ignore[VGL301, VGL302] to be written anew\n/// Documented.\n@severity(error)\n"
        "statement R0: abs(\n    deploy(env = production)\n    and deploy(a = 1 and not a = 1)\n)\n"
        + LONE.replace("R0", "R1")
    )
    found = lint(Source("policy.vgl", text), Plan()).findings
    assert [(f.code, f.source.position(f.span.start)[0]) for f in found] == [("VGL301", 8)]


def test_a_comment_inside_an_item_speaks_of_the_next_line() -> None:
    text = "statement R0: abs(\n    // vigil: ignore[VGL301] any\n    deploy(env = production)\n)\n"
    assert codes(text) == []


def test_ignore_file_speaks_of_the_whole_file() -> None:
    assert codes("// vigil: ignore-file[VGL3] drafts\n\n" + LONE) == []


def test_comments_can_be_paid_no_heed_to() -> None:
    text = LONE.rstrip() + "  // vigil: ignore[VGL301] any environment\n"
    assert codes(text, Plan(inline_ignores=False)) == ["VGL301"]


def test_a_text_that_looks_like_a_comment_suppresses_nothing() -> None:
    text = 'statement R0: abs(deploy(env = production, tag = "// vigil: ignore[VGL301] x"))\n'
    assert codes(text) == ["VGL301"]


@pytest.mark.parametrize(
    "comment",
    [
        "vigil: ignore",
        "vigil: ignore[] x",
        "vigil: ignore[VGL999] x",
        "vigil: ignor[VGL301] x",
        "vigil: ignore[ALL] x",
        "vigil:",
        "Vigil: Ignore[VGL301] x",
        "vigil: IGNORE[VGL301] x",
    ],
)
def test_a_malformed_comment_suppresses_nothing_and_is_reported(comment: str) -> None:
    assert codes(f"{LONE.rstrip()}  // {comment}\n") == ["VGL301", "VGL008"]


def test_a_comment_that_only_speaks_of_vigil_is_none() -> None:
    assert codes(f"// Vigil: what is to be ignored is said below\n{LONE}") == ["VGL301"]


def test_deleting_a_comment_behind_code_keeps_the_end_of_the_line() -> None:
    text = "statement R0: abs(  // vigil: ignore[VGL302] x\r\n    deploy()\r\n)\r\n"
    mended = mend(Source("policy.vgl", text), Plan())
    assert mended.source.text == "statement R0: abs(\r\n    deploy()\r\n)\r\n"


def test_no_comment_hides_what_is_not_enforced_or_not_seen() -> None:
    text = "// vigil: ignore-file[VGL] drafts\nstatement R0: abs(deploy(\nstatement R1: abs(nothing)\n"
    assert [c for c in codes(text) if c.startswith(("VGL1", "VGL2"))] == ["VGL101", "VGL201"]
    assert codes("// vigil: ignore-file[VGL10] drafts\n\n" + LONE) == ["VGL007", "VGL301"]
    assert codes("// vigil: ignore-file[VGL101] drafts\n\n" + LONE) == ["VGL008", "VGL301"]


def test_documentation_is_no_such_comment() -> None:
    assert codes("/// vigil: ignore[VGL301] any environment\n" + LONE) == ["VGL008", "VGL301"]


def test_a_comment_without_a_reason_is_reported_and_heeded() -> None:
    assert codes(f"{LONE.rstrip()}  // vigil: ignore[VGL301]\n") == ["VGL008"]


def test_a_comment_for_what_was_not_looked_for_is_not_called_unused() -> None:
    text = "statement R0: abs(deploy())  // vigil: ignore[VGL401] known elsewhere\n"
    assert codes(text) == []
    assert codes(text.replace("VGL401", "VGL302")) == ["VGL007"]
    assert codes(text.replace("VGL401", "VGL302"), Plan(Selection(("VGL304", "VGL007")))) == []


# --- a rule that fails -------------------------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(subject: Subject) -> Iterator[Diagnostic]:
        yield Diagnostic.of("VGL309", "before it fails", subject.policy.module.source)
        raise ZeroDivisionError("not made for this")

    rules = (Rule(("VGL309",), find), *registry.all_rules())
    monkeypatch.setattr("vigil_lang.lint.run.all_rules", lambda: rules)
    monkeypatch.delenv("VIGIL_DEBUG", raising=False)


@pytest.mark.usefixtures("failing")
def test_a_rule_that_fails_is_reported_and_hides_nothing() -> None:
    found = lint(Source("policy.vgl", LONE), Plan()).findings
    assert [f.code for f in found] == ["VGL309", "VGL902", "VGL301"]
    assert "ZeroDivisionError: not made for this" in found[1].message


# --- records, processes, the cache -------------------------------------------------------------------------


def test_findings_survive_as_records(tmp_path: Path) -> None:
    path = tmp_path / "a.vgl"
    path.write_text(LONE, encoding="utf-8")
    source, folder = Source(str(path), LONE), Source(str(tmp_path), "")
    fix = Fix("write it", (Edit(Span(3, 5), "x"),), safe=True)
    found = [
        Diagnostic.of(
            "VGL301", "one", source, Span(1, 4), help="do", fix=fix, notes=(Note("there", source, Span(2, 3)),)
        ),
        Diagnostic.of("VGL001", "two", folder, severity="info"),
    ]
    assert decode(encode(found)) == found
    path.write_text("", encoding="utf-8")  # it may have changed in the meantime
    assert decode(encode(found))[0].span == Span(0, 0)


def policies(folder: Path, count: int) -> list[str]:
    paths = [folder / f"p{n}.vgl" for n in range(count)]
    for n, path in enumerate(paths):
        path.write_text(LONE if n % 3 == 0 else 'statement R0: abs(deploy(env = "live"))\n', encoding="utf-8")
    return [str(path) for path in paths]


def test_several_processes_find_what_one_does(tmp_path: Path) -> None:
    paths = policies(tmp_path, 60)
    alone = lint_files(paths, Plan, jobs=1)
    assert [len(result.findings) for result in alone] == [1, 0, 0] * 20
    assert lint_files(paths, Plan, jobs=3) == alone


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def worked_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are linted, not remembered."""
    seen: list[str] = []
    work = batch._work

    def watched(path: str, plan: Plan, digests: Digests) -> object:
        seen.append(path)
        return work(path, plan, digests)

    monkeypatch.setattr(batch, "_work", watched)
    return seen


def test_only_what_changed_is_linted_again(cached: Path, worked_on: list[str]) -> None:
    paths = policies(cached, 4)
    first = lint_files(paths, Plan, Store("options"))
    worked_on.clear()
    assert lint_files(paths, Plan, Store("options")) == first
    assert worked_on == []
    Path(paths[1]).write_text(LONE, encoding="utf-8")
    assert [len(r.findings) for r in lint_files(paths, Plan, Store("options"))] == [1, 1, 0, 1]
    assert worked_on == [paths[1]]
    lint_files(paths, Plan, Store("other options"))
    assert worked_on == [paths[1], *paths]


def test_a_used_module_and_a_missing_one_are_looked_at_again(cached: Path, worked_on: list[str]) -> None:
    shared, main = cached / "shared.vgl", cached / "main.vgl"
    main.write_text("use .shared: risky\n\nstatement R0: abs(risky)\n", encoding="utf-8")

    def found() -> list[str]:
        (result,) = lint_files([str(main)], Plan, Store(""))
        return [f.code for f in result.findings]

    assert found() == ["VGL207", "VGL201"]
    shared.write_text('pattern risky = deploy(env = "live")\n', encoding="utf-8")
    assert found() == []
    worked_on.clear()
    assert found() == []
    assert worked_on == []
    shared.write_text('pattern risky = deploy(env = "live" and env = "test")\n', encoding="utf-8")
    assert found() == ["VGL302"]
    shared.unlink()
    assert found() == ["VGL207", "VGL201"]


def test_a_module_that_lacked_a_name_is_looked_at_again(cached: Path) -> None:
    shared, main = cached / "shared.vgl", cached / "main.vgl"
    main.write_text("use .shared: risky\n\nstatement R0: abs(risky)\n", encoding="utf-8")
    shared.write_text('pattern harmless = deploy(env = "live")\n', encoding="utf-8")

    def found() -> list[str]:
        (result,) = lint_files([str(main)], Plan, Store(""))
        return [f.code for f in result.findings]

    assert found() == ["VGL201", "VGL201"]
    shared.write_text('pattern risky = deploy(env = "live")\n', encoding="utf-8")
    assert found() == []


def test_a_damaged_or_foreign_cache_is_no_cache(cached: Path) -> None:
    paths = policies(cached, 3)
    first = lint_files(paths, Plan, Store(""))
    (stored,) = (cached / "cache").glob("lint-*")
    for text in ("", "{}", "not json", stored.read_text(encoding="utf-8").replace("VGL301", "VGL302")):
        stored.write_text(text, encoding="utf-8")
        assert lint_files(paths, Plan, Store("")) == first
    cache.write(stored.name, '["another linter", {}]')
    assert lint_files(paths, Plan, Store("")) == first
    cache.write(stored.name, '{"well": "formed"}')
    assert lint_files(paths, Plan, Store("")) == first


def test_what_cannot_be_read_is_not_remembered(cached: Path) -> None:
    path = cached / "a.vgl"
    (result,) = lint_files([str(path)], Plan, Store(""))
    assert result.unreadable
    path.write_text(LONE, encoding="utf-8")
    (result,) = lint_files([str(path)], Plan, Store(""))
    assert [f.code for f in result.findings] == ["VGL301"]


def test_a_file_whose_name_is_no_text_is_linted(cached: Path) -> None:
    path = cached / "\udce9.vgl"
    try:
        path.write_text(LONE, encoding="utf-8")
    except OSError:
        pytest.skip("the file system takes no such name")
    (result,) = lint_files([str(path)], Plan, Store(""))
    assert [f.code for f in result.findings] == ["VGL301"]


# --- fixes -------------------------------------------------------------------------------------------------


def offering(monkeypatch: pytest.MonkeyPatch, *fixes: tuple[str, str, bool]) -> None:
    """Rules that want texts replaced by others, wherever they stand, one finding for each place."""

    def find(subject: Subject) -> Iterator[Diagnostic]:
        source = subject.policy.module.source
        for old, new, safe in fixes:
            at = source.text.find(old)
            while at >= 0:
                span = Span(at, at + len(old))
                yield Diagnostic.of("VGL309", f"{old} is {new}", source, span, fix=Fix("so", (Edit(span, new),), safe))
                at = source.text.find(old, at + len(old))

    monkeypatch.setattr("vigil_lang.lint.run.all_rules", lambda: (Rule(("VGL309",), find),))


BASE = 'statement R0: abs(deploy(env = "live"))\n'


@pytest.mark.parametrize(
    ("fix", "after"),
    [
        (('env = "live"', 'env in {"live"}', True), 'statement R0: abs(deploy(env in {"live"}))\n'),
        (('env = "live"', 'env = "test"', True), BASE),  # it says it is safe, and it is not
        (('"live"))', '"live")', True), BASE),  # it breaks the file
        (("R0", "R1", True), BASE),  # another statement is another statement
        (('env = "live"', 'env = "test"', False), BASE),  # nobody asked for it
    ],
)
def test_safe_fixes_change_no_meaning(fix: tuple[str, str, bool], after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, fix)
    mended = mend(Source("policy.vgl", BASE), Plan())
    assert mended.source.text == after
    assert len(mended.applied) == (after != BASE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('abs(Bash(command ~ "*rm -rf*" and command ~ "*rm*"))', 'abs(Bash(command ~ "*rm -rf*"))'),
        ('prec(action ~ "Bash" and has command, approve())', "prec(action = Bash and has command, approve())"),
        ('abs(deploy(env = "x" or env = "x"))', 'abs(deploy(env = "x"))'),
    ],
)
def test_safe_fixes_may_say_the_same_in_other_words(before: str, after: str) -> None:
    mended = mend(Source("policy.vgl", f"statement R0: {before}\n"), Plan())
    assert mended.source.text == f"statement R0: {after}\n"


def test_unsafe_fixes_come_last_and_break_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = BASE + 'statement R1: abs(deploy(tag = "live"))\n'
    offering(
        monkeypatch, ('"live"))', '"live")', False), ('tag = "live"', 'tag = "x"', False), ("abs(d", "abs( d", True)
    )
    mended = mend(Source("policy.vgl", text), Plan(), unsafe=True)
    assert mended.source.text == text.replace("abs(d", "abs( d").replace('tag = "live"', 'tag = "x"')
    assert [f.fix.safe for f in mended.applied if f.fix] == [True, True, False]


def test_fixes_that_undo_each_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ('env = "live"', 'env in {"live"}', True), ('env in {"live"}', 'env = "live"', True))
    assert "live" in mend(Source("policy.vgl", BASE), Plan()).source.text


def test_fixes_that_touch_are_applied_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    offering(monkeypatch, ('env = "li', 'env  = "li', True), ('ve"))', 've" ))', True), ("live", "live", True))
    assert mend(Source("policy.vgl", BASE), Plan()).source.text == 'statement R0: abs(deploy(env  = "live" ))\n'


# --- the baseline ------------------------------------------------------------------------------------------


def test_a_baseline_knows_old_findings_where_lines_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def findings(text: str) -> list[Diagnostic]:
        return list(lint(Source("a.vgl", text), Plan()).findings)

    update(findings(LONE + OTHER), ["a.vgl"], "base.json")
    moved = "// one more line\n\n" + LONE + OTHER
    compared = compare(findings(moved), ["a.vgl"], "base.json")
    assert (len(compared.new), len(compared.known), compared.gone) == (0, 2, 0)
    compared = compare(findings(moved + LONE.replace("R0: abs(deploy", "R2: abs(publish")), ["a.vgl"], "base.json")
    assert [f.source.position(f.span.start)[0] for f in compared.new] == [5]
    compared = compare(findings(LONE), ["a.vgl"], "base.json")
    assert (len(compared.new), len(compared.known), compared.gone) == (0, 1, 1)


def test_alike_lines_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = "statement R: abs(deploy(env = production))\n"
    found = [
        Diagnostic.of("VGL301", "x", Source("a.vgl", line * 3), Span(n * len(line), n * len(line) + 3))
        for n in range(3)
    ]
    update(found[:2], ["a.vgl"], "base.json")
    assert len(compare(found, ["a.vgl"], "base.json").new) == 1


def test_updating_for_some_files_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    both = [Diagnostic.of("VGL301", "x", Source(name, LONE), Span(0, 3)) for name in ("a.vgl", "b.vgl")]
    update(both, ["a.vgl", "b.vgl"], "base.json")
    update([], ["a.vgl"], "base.json")
    files = {entry["file"] for entry in json.loads(Path("base.json").read_text(encoding="utf-8"))["findings"].values()}
    assert files == {"b.vgl"}


def test_codes_that_were_not_looked_for_stay_in_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = [Diagnostic.of(code, "x", Source("a.vgl", LONE), Span(0, 3)) for code in ("VGL301", "VGL318")]
    update(found, ["a.vgl"], "base.json")
    update(found[1:], ["a.vgl"], "base.json", Selection(("VGL318",)).counts)
    compared = compare(found, ["a.vgl"], "base.json")
    assert (compared.new, compared.gone) == ((), 0)
    assert compare(found[1:], ["a.vgl"], "base.json", Selection(("VGL318",)).counts).gone == 0


def test_a_baseline_holds_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    update([Diagnostic.of("VGL301", "x", Source("sub/a.vgl", LONE), Span(0, 3))], ["sub/a.vgl"], "base.json")
    monkeypatch.chdir(tmp_path / "sub")
    compared = compare([Diagnostic.of("VGL301", "x", Source("a.vgl", LONE), Span(0, 3))], ["a.vgl"], "../base.json")
    assert (compared.new, compared.gone) == ((), 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "vigil.baseline/1"}',
        '{"schema": "vigil.baseline/1", "findings": {"x": 1}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_baseline_is_refused_and_left_alone(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.json").write_text(text, encoding="utf-8")
    for call in (lambda: compare([], [], "base.json"), lambda: update([], [], "base.json")):
        with pytest.raises(InputError) as caught:
            call()
        assert [f.code for f in caught.value.diagnostics] == ["VGL009"]
    assert Path("base.json").read_text(encoding="utf-8") == text
