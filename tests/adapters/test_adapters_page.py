"""docs/adapters.md: each of its programs runs on the real SDK with a scripted model."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest
from adapter_support import POLICY, Script, Tools

from vigil_lang.gate.gate import Gate

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```python (\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
SCRIPT: Script = [[("drop_table", {"table": "orders"})], "I may not."]
PACKAGES = {
    "claude": ("claude_agent_sdk", "test_claude_agent_sdk"),
    "openai": ("agents", "test_openai_agents"),
    "langchain": ("langchain", "test_langchain"),
    "adk": ("google.adk", "test_google_adk"),
    "pydantic_ai": ("pydantic_ai", "test_pydantic_ai"),
    "inspect": ("inspect_ai", "test_inspect_ai"),
}
SHOWN = {
    "claude": "ResultMessage",
    "openai": "I may not.",
    "langchain": "Vigil blocked this call",
    "adk": "shop True False\nshop False True\nshop False False",
    "pydantic_ai": "I may not.",
    "inspect": "approval",
}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_program_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package, tests = PACKAGES[name]
    pytest.importorskip(package, reason=f"the SDK {package} is not installed")
    module = import_module(tests)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    (tmp_path / "shop.vgl").write_text(POLICY, encoding="utf-8")
    given: dict[str, Any] = {"state": tmp_path / "state"}
    if name == "claude":
        given["transport"] = module.Program(Tools(), SCRIPT)
    else:
        given["model"] = module.scripted(SCRIPT)
    code = compile(PROGRAMS[name], "docs/adapters.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(code, given)  # the page's own program
    if inspect.isawaitable(made):
        await made
    shown = SHOWN[name].splitlines()
    assert [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip() in shown] == shown
    decided = [line for line in (given["state"] / "log.jsonl").read_text("utf-8").splitlines() if '"decision"' in line]
    assert len(decided) == 1
    assert '"mode":"block"' in decided[0]
    assert Gate(given["state"])


def test_each_adapter_has_an_extra_and_the_page_names_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    adapters = {path.stem for path in (ROOT / "vigil_lang" / "adapters").glob("*.py")} - {"__init__", "mediation"}
    for name in adapters:
        extra = name.replace("_", "-")
        assert f"`vigil-lang[{extra}]`" in PAGE
        (wanted,) = extras[extra]
        assert wanted.partition(";")[0] in project["dependency-groups"]["adapters"]


@pytest.mark.parametrize("name", [name for name, _ in PACKAGES.values()])
def test_a_missing_sdk_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = {"agents": "openai_agents", "google.adk": "google_adk"}.get(name, name)
    for module in (name, f"{name}.plugins.base_plugin", f"{name}.approval", f"{name}.agents.middleware"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    path = ROOT / "vigil_lang" / "adapters" / f"{adapter}.py"
    spec = util.spec_from_file_location("adapter_without_sdk", path)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=f"vigil-lang\\[{adapter.replace('_', '-')}\\]"):
        spec.loader.exec_module(util.module_from_spec(spec))
