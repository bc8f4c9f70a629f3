"""vigil_lang/adapters/inspect_ai.py in evaluations of inspect_ai with its mock model."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("inspect_ai", reason="the SDK inspect-ai is not installed")

from adapter_support import PARAMETERS, Cases, Place, Played, Script, Tools, functions
from inspect_ai import Task, eval_async
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.tool import ToolCall, ToolDef, ToolError

from vigil_lang.adapters.inspect_ai import VigilInspect

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate


def scripted(script: Script) -> Any:
    outputs = []
    for at, step in enumerate(script):
        calls = [] if isinstance(step, str) else [ToolCall(f"c{at}-{i}", *each) for i, each in enumerate(step)]
        message = ChatMessageAssistant(content=step if isinstance(step, str) else "", tool_calls=calls or None)
        outputs.append(ModelOutput.from_message(message, "tool_calls" if calls else "stop"))
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)

    async def count(text: str) -> int:
        """Count without the tables that tiktoken downloads."""
        return len(text)

    model.api.count_text_tokens = count  # type: ignore[method-assign]
    return model


def tolerant(functions: list[Any]) -> list[Any]:
    """Tools whose errors the model is told."""

    def telling(function: Any) -> ToolDef:
        @wraps(function)
        async def told(**given: Any) -> str:
            try:
                return str(await function(**given))
            except RuntimeError as error:
                raise ToolError(str(error)) from error

        return ToolDef(told, function.__name__, function.__doc__, {PARAMETERS[function.__name__]: "what it is about"})

    return [telling(each) for each in functions]


async def evaluated(vigil: VigilInspect, tools: Tools, script: Script, samples: int = 1) -> Any:
    agent = react(tools=tolerant(functions(tools)), submit=False, prompt=None, on_continue=vigil.on_continue)
    task = Task(
        [Sample("go", id=at + 1) for at in range(samples)], solver=agent, approval=vigil.approval, review=vigil.review
    )
    (log,) = await eval_async(task, model=scripted(script), log_format="json", max_samples=1)
    assert log.status == "success", log.error
    return log


async def play(gate: Gate, tools: Tools, script: Script, **options: Any) -> Played:
    log = await evaluated(VigilInspect(gate, **options), tools, script)
    messages = log.samples[0].messages
    answers = [m.error.message if m.error else m.text for m in messages if m.role == "tool"]
    return Played(answers, [m.text for m in messages if m.role == "user"][1:])


@pytest.fixture(autouse=True)
def logs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.chdir(tmp_path)


class TestInspectAi(Cases):
    play = staticmethod(play)


async def test_each_sample_is_a_run_of_its_own(place: Place) -> None:
    tools = Tools()
    script: Script = [[("run_tests", {"target": "x"})], "done", [("deploy", {"target": "x"})], "done"]
    await evaluated(VigilInspect(place.gate), tools, script, samples=2)
    assert tools.names == ["run_tests"]
    assert len({entry["run"] for entry in place.entries("run_start")}) == 2
