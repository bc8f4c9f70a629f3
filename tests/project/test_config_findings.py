"""What is wrong with a configuration is said at its exact place; hostile ones end in one finding."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from vigil_lang.cli.params import read_params
from vigil_lang.diagnostics import InputError, apply_edits
from vigil_lang.project.configuration import load
from vigil_lang.project.settings import Settings


def marked(text: str) -> tuple[str, str]:
    """A text without its ‹marks›, and what they enclose."""
    return text.replace("‹", "").replace("›", ""), text[text.index("‹") + 1 : text.index("›")]


# The one finding of each: its place between ‹ and ›, then its message and help.
A_CODE = "a code is `VGL` and three digits, a prefix the beginning of some"
A_PARAM = "is a text, a number, a truth value or a list of these"
UNKNOWN = [
    ('‹fail-levl› = "error"', "there is no setting `fail-levl`", "did you mean `fail-level`?"),
    ("lint.‹inline_ignores› = 1", "there is no setting `lint.inline_ignores`", "did you mean `inline-ignores`?"),
    ('‹"select"› = ["ALL"]', "there is no setting `select`", "`select` belongs in `[lint]`"),
    (
        "[lint]\n‹runs› = []",
        "there is no setting `lint.runs`",
        "`runs` belongs at the top of the file, before any table",
    ),
    ("[‹lnt›]\nselect = []", "there is no setting `lnt`", "did you mean `lint`?"),
    ("[[‹rules›]]\na = 1\n[[rules]]\n", "there is no setting `rules`", "did you mean `runs`?"),
    (
        "[‹tool›.vigil]\nruns = []",
        "there is no setting `tool`",
        "in a file of its own the settings stand at the top: `[lint]`, not `[tool.vigil.lint]`",
    ),
    (
        "[draft]\n‹base-url› = 'https://elsewhere.example'",
        "there is no setting `draft.base-url`",
        "address and key are set by the environment: ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY",
    ),
    (
        '[tools.t]\nkinds = ["acme.pay", ‹"file.raed"›]',
        "the vocabulary has no kind `file.raed`",
        "did you mean `file.read`?",
    ),
    ("tools.t.roles = {‹pth› = 'a', hash = 'b'}", "the vocabulary has no role `pth`", "did you mean `path`?"),
    (
        "tools.t = {roles = {path = 'a'}, effects = {path = ‹'file.delte'›}}",
        "the vocabulary has no kind `file.delte`",
        "did you mean `file.delete`?",
    ),
    (
        "[tools.t]\nroles = {path = 'a', url = 'u'}\neffects = {‹target› = 'file.delete', host = 'net.request'}",
        "`target` is no role of `t`: this effect never happens",
        "its roles are `host`, `path`, `url`",
    ),
    (
        "[tools.t]\nkinds = ['payment.transfer']\nroles = {recipient = 'to', ‹sum› = 'amount'}",
        "`sum` is no role of the vocabulary, and `amount` is one of such a call",
        "the role stands first, the argument that holds it behind it",
    ),
    ("[test]\n‹zzz› = 1", "there is no setting `test.zzz`", "there is `paths`, `fail-under`"),
]
INVALID = [
    ('runs = ‹"runs/"›', '`runs` is a list of paths, not `"runs/"`', None),
    ("runs = [\n  'a', # one\n  ‹3›,\n]", "an item of `runs` is a path, not `3`", None),
    ('runs = ["""\na""", ‹""›]', "a path cannot be empty", None),
    ('runs = [‹"a\\u0000b"›]', "a path cannot hold a NUL character", None),
    (
        'signatures = ["a", ‹"~/t.json"›]',
        "`~` is not expanded in `~/t.json`",
        "paths are taken from the folder of the configuration",
    ),
    (
        "fail-level = ‹'warn'›",
        "`fail-level` is one of `error`, `warning`, `info`, `never`, not `'warn'`",
        "did you mean `warning`?",
    ),
    (
        "fmt.spelling = ‹1979-05-27 07:32:00› # when",
        "`fmt.spelling` is one of `ascii`, `unicode`, `keep`, not `1979-05-27 07:32:00`",
        None,
    ),
    ("‹lint› = 3", "`lint` is a table: write `[lint]`", None),
    ("[[‹lint›]]\nselect = []", "`lint` is a table: write `[lint]`", None),
    (
        '[lint]\nselect = ["VGL3", ‹"vgl3"›]',
        "`vgl3` is neither a code nor the beginning of one",
        "did you mean `VGL3`?",
    ),
    ('[lint]\nselect = [‹"VGL30l"›]', "`VGL30l` is neither a code nor the beginning of one", A_CODE),
    ('lint = {ignore = [‹"E501"›]}', "`E501` is neither a code nor the beginning of one", A_CODE),
    ('lint.severity.‹VGL999› = "info"', "`VGL999` is neither a code nor the beginning of one", A_CODE),
    (
        '[lint.severity]\n"VGL301" = ‹"eror"›',
        '`lint.severity.VGL301` is one of `error`, `warning`, `info`, not `"eror"`',
        "did you mean `error`?",
    ),
    ("[lint.severity]\nVGL301 = ‹2›", "`lint.severity.VGL301` is one of `error`, `warning`, `info`, not `2`", None),
    ('[lint.per-file-ignores]\n"a" = [‹"VGL77"›]', "`VGL77` is neither a code nor the beginning of one", A_CODE),
    (
        '[lint]\nper-file-ignores = {‹"../b"› = ["VGL7"]}',
        "the glob `../b` leads out of the folder of the configuration, where it matches nothing",
        None,
    ),
    ("exclude = [‹'a\\b'›]", "the glob `a\\b` has a backslash", "folders are separated by `/`"),
    ("exclude = [‹'/'›]", "the glob `/` names nothing", None),
    ('lint.baseline = ‹"../../x"›', "`../../x` leads out of the project of the configuration", None),
    ('lint.baseline = ‹"/etc/passwd"›', "`/etc/passwd` leads out of the project of the configuration", None),
    (
        "lint.benign-threshold = ‹5›",
        "`lint.benign-threshold` is a share from 0 to 1, not `5`",
        "5 percent is 0.05",
    ),
    ("lint.benign-threshold = ‹nan›", "`lint.benign-threshold` is a share from 0 to 1, not `nan`", None),
    ("lint.benign-threshold = ‹true›", "`lint.benign-threshold` is a share from 0 to 1, not `true`", None),
    ("lint.obligations = ‹'yes'›", "`lint.obligations` is `true` or `false`, not `'yes'`", None),
    ("test.fail-under = ‹-0.5›", "`test.fail-under` is a number from 0 to 100, not `-0.5`", None),
    ("params.rate = ‹inf›", f"`params.rate` {A_PARAM}, not `inf`", None),
    ("params = {a = ‹{b = 1}›}", f"`params.a` {A_PARAM}, not a table", None),
    (
        "runs = [] ‹x›",
        "the configuration is no valid TOML: expected newline or end of document after a statement",
        None,
    ),
    ("runs = []\nruns = []‹›", "the configuration is no valid TOML: cannot overwrite a value", None),
]
CASES = [("VGL006", *case) for case in UNKNOWN] + [("VGL005", *case) for case in INVALID]


@pytest.mark.parametrize(("code", "text", "message", "help_text"), CASES, ids=[case[1] for case in CASES])
def test_one_finding(code: str, text: str, message: str, help_text: str | None, tmp_path: Path) -> None:
    text, wanted = marked(text)
    (tmp_path / "vigil.toml").write_text(text, encoding="utf-8")
    loaded = load(tmp_path)
    (found,) = loaded.findings
    assert (found.code, found.message, found.help) == (code, message, help_text)
    assert found.source.text[slice(*found.span)] == wanted
    assert loaded.broken == (code == "VGL005")
    assert found.source.path == "vigil.toml"


def test_the_rest_of_a_broken_configuration_is_read(tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_text('fail-level = "fatal"\nlint.select = ["VGL3", "VGL3O1"]\n', encoding="utf-8")
    settings = load(tmp_path).settings
    assert (settings.fail_level, settings.lint.select) == ("warning", ("VGL3",))


def test_fixes_make_a_file_clean(tmp_path: Path) -> None:
    text = """fail_level = "warn"
runs = 'runs/'
[lint]
"extend_select" = ["vgl30"]
[lint.severity]
"vgl3" = "warnings"
"""
    path = tmp_path / "vigil.toml"
    path.write_text(text, encoding="utf-8")
    for _ in range(2):  # what an unknown key holds is looked at once it is known
        fixes = [found.fix for found in load(tmp_path).findings if found.fix]
        edits = [edit for fix in fixes for edit in fix.edits]
        path.write_text(apply_edits(path.read_text(encoding="utf-8"), edits), encoding="utf-8")
    assert load(tmp_path).findings == ()
    assert (
        path.read_text(encoding="utf-8")
        == """fail-level = "warning"
runs = ['runs/']
[lint]
extend-select = ["VGL30"]
[lint.severity]
"VGL3" = "warning"
"""
    )


def test_the_place_is_right_after_wide_and_escaped_text(tmp_path: Path) -> None:
    text = "\ufeffruns = [\"é𝒳 \\\" ] #\", '''\n]'''] # [lint]\r\n\"lint\".'select' . x = 1\r\n"
    (tmp_path / "vigil.toml").write_bytes(text.encode())
    (found,) = load(tmp_path).findings
    assert found.message == "`lint.select` is a list of codes, not a table"
    assert found.source.text[slice(*found.span)] == "'select'"


HOSTILE = {
    "empty": b"",
    "no UTF-8": b"runs = ['\xff']",
    "UTF-16": "runs = []".encode("utf-16"),
    "NUL": b"runs = ['\0']",
    "only NUL": b"\0" * 1000,
    "arrays": b"a = " + b"[" * 100_000,
    "closed arrays": b"a = " + b"[" * 100_000 + b"]" * 100_000,
    "inline tables": b"a = " + b"{a = " * 100_000 + b"1" + b"}" * 100_000,
    "dotted key": b".".join([b"a"] * 200_000) + b" = 1",
    "dotted header": b"[" + b".".join([b"a"] * 200_000) + b"]",
    "dotted keys in headers": b"[a." + b".".join([b"b"] * 30) + b"]\n" + b".".join([b"c"] * 200_000) + b" = 1",
    "huge": b"# " + b"x" * 2_000_000,
    "long number": b"a = " + b"9" * 100_000,
    "long name": b"a" * 900_000 + b" = 1",
    "open string": b'a = "' + b"x" * 900_000,
    "open text": b'a = """' + b'x""' * 300_000,
    "backslashes": b'a = "' + b"\\" * 900_000,
    "quotes": b'a = ' + b'"' * 900_000,
    "brackets": b"[" * 900_000,
    "commas": b"a = [" + b"," * 900_000,
    "an ending": b"a =",
}  # fmt: skip


@pytest.mark.unmeasured
@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_end_in_one_finding_soon(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_bytes(raw)
    begun = time.process_time()
    loaded = load(tmp_path)
    assert time.process_time() - begun < 5
    assert len(loaded.findings) == (0 if raw == b"" else 1)
    assert loaded.settings == Settings(folder=tmp_path)
    for found in loaded.findings:
        assert found.code in {"VGL002", "VGL003", "VGL005", "VGL006"}
        assert len(found.message) < 200


def test_of_very_many_findings_the_first_are_told(tmp_path: Path) -> None:
    keys = "".join(f"runz{number} = 1\n" for number in range(40_000))
    (tmp_path / "vigil.toml").write_text(f'{keys}fail-level = "fatal"\n', encoding="utf-8")
    begun = time.process_time()
    findings = load(tmp_path).findings
    assert time.process_time() - begun < 10
    assert len(findings) == 51
    assert findings[-1].message == "39,951 more findings are not shown"
    assert any(found.code == "VGL005" for found in findings)
    assert all(found.message for found in findings)


def test_a_given_file_that_is_not_there(tmp_path: Path) -> None:
    loaded = load(tmp_path, Path("nowhere.toml"))
    assert [found.code for found in loaded.findings] == ["VGL001"]
    assert loaded.broken


def test_a_given_pyproject_needs_the_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n", encoding="utf-8")
    (found,) = load(tmp_path, Path("pyproject.toml")).findings
    assert (found.code, found.message) == ("VGL005", "`pyproject.toml` has no table `[tool.vigil]`")
    (tmp_path / "pyproject.toml").write_text("[tool]\nvigil = 3\n", encoding="utf-8")
    (found,) = load(tmp_path).findings
    assert (found.code, found.message) == ("VGL005", "`tool.vigil` is a table: write `[tool.vigil]`")
    assert found.source.text[slice(*found.span)] == "vigil"


def test_a_folder_or_a_pipe_of_that_name_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").mkdir()
    assert load(tmp_path).path is None


@pytest.mark.parametrize("number", ["1e" + "9" * 20, "-1.5E+99999999999999999999", "9" * 5_000, "1e" + "9" * 100_000])
def test_a_number_beyond_all_that_is_one(number: str, tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_text(f"params.rate = {number}\n", encoding="utf-8")
    (found,) = load(tmp_path).findings
    assert (found.code, found.message) == ("VGL005", "a number is too long")
    assert found.source.text[slice(*found.span)] == number.lstrip("-")
    (tmp_path / "params.toml").write_text(f"rate = {number}\n", encoding="utf-8")
    with pytest.raises(InputError, match="VGL210 the file is no valid TOML"):
        read_params([], str(tmp_path / "params.toml"))
