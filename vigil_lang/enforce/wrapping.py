"""Callables wrapped: each call is admitted first, and followed to its end."""

from __future__ import annotations

import inspect
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from vigil_lang.enforce.values import plain, plain_name, shown
from vigil_lang.trace import checked
from vigil_lang.trace.record import Result

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Generator

    from vigil_lang.enforce.guarded_run import GuardedRun
    from vigil_lang.trace import Status

    See = Callable[[dict[str, Any]], dict[str, Any]]

P = ParamSpec("P")
R = TypeVar("R")


class Reader:
    """How calls of a tool are read: arguments by the names of its parameters, defaults among them.

    Further named arguments stand beside them, and so does what a `partial` has fixed. A tool without a signature has
    its positional arguments in `args`. A method's own object (`self`, `cls`) is no argument.
    """

    def __init__(self, tool: Callable[..., Any], name: str, see: See | None) -> None:
        self.name = name
        self._see = see
        self._args: tuple[object, ...] = ()
        self._kwargs: dict[str, object] = {}
        while isinstance(tool, partial):
            self._args, self._kwargs = tool.args + self._args, tool.keywords | self._kwargs
            tool = tool.func
        try:
            self._signature = inspect.signature(tool)
        except ValueError:
            self._signature = _ANY
        parameters = self._signature.parameters
        self._left_out = _own_object(tool, tuple(parameters))
        kinds = ((name, each.kind) for name, each in parameters.items())
        self._further = next((name for name, kind in kinds if kind is inspect.Parameter.VAR_KEYWORD), None)

    def bound(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Callable[[], dict[str, Any]]:
        """A function that gives a call's arguments as JSON values.

        Raises:
            TypeError: the tool does not take these arguments.
        """
        bound = self._signature.bind(*self._args, *args, **(self._kwargs | kwargs))
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name != self._left_out}
        further = given.pop(self._further, {}) if self._further is not None else {}
        # A parameter that is given by its place alone may share its name with one of them, which hides no other.
        alike = {name: further[name] for name in given.keys() & further}
        given |= {name: value for name, value in further.items() if name not in alike}
        if alike:
            beside = str(self._further)
            given[beside] = [given[beside], alike] if beside in given else alike

        def read() -> dict[str, Any]:
            seen = given if self._see is None else self._see(given)
            if not isinstance(seen, dict):
                raise TypeError(f"`arguments` makes a dict by name, not {checked.shown(seen)}")
            return {plain_name(name): plain(value, name) for name, value in seen.items()}

        return read


_ANY = inspect.signature(lambda *args, **kwargs: (args, kwargs))
"""What a tool without a signature takes."""


def _own_object(tool: Callable[..., Any], parameters: tuple[str, ...]) -> str | None:
    """The first parameter of a function that stands in a class, where it goes by its usual name."""
    if not inspect.isfunction(tool) or not parameters or parameters[0] not in ("self", "cls"):
        return None
    around = tool.__qualname__.rpartition(".")[0]
    return parameters[0] if around and not around.endswith("<locals>") else None


def name_of(tool: Callable[..., Any]) -> str:
    """The name of a tool's function, or of its class."""
    inner: object = tool
    while isinstance(inner, partial):
        inner = inner.func
    name = getattr(inner, "__name__", type(inner).__name__)
    if not isinstance(name, str) or name == "<lambda>":
        raise ValueError("`tool` has no name of its own: give it one by `name`")
    return name


class _Made:
    """A call that was let through, until it ends."""

    def __init__(self, run: GuardedRun, key: str) -> None:
        self._run = run
        self._key = key
        self._texts: list[str] = []
        self._joint = ""
        self._lost: str | None = None

    def show(self, value: object) -> None:
        """Add to its output; where that cannot be read, the run cannot be judged any more."""
        try:
            text = shown(value)
        except Exception as error:
            self._lost = f"what a call came to could not be read ({type(error).__name__})"
        else:
            if text is not None:
                self._texts.append(text)
                self._joint = self._joint if isinstance(value, str) else "\n"

    def over(self, status: Status) -> None:
        """It has ended."""
        output = self._joint.join(self._texts) if self._texts else None
        self._run.ended(self._lost or Result(self._key, status, output))

    def failed(self, error: BaseException) -> None:
        """It has raised; one that was interrupted may have done some of what it does."""
        if not isinstance(error, Exception):
            return self.over("unknown")
        self.show(error)
        self.over("error")

    def returned(self, result: Any) -> Any:
        """It has returned: what it returned, followed to its end where that is still to come."""
        if inspect.iscoroutine(result):
            return _awaited(self, lambda: result)
        if inspect.isgenerator(result):
            return _followed(self, lambda: result)
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            self.over("unknown")
        else:
            self.show(result)
            self.over("ok")
        return result


def _admit(run: GuardedRun, name: str, read: Callable[[], dict[str, Any]]) -> _Made:
    admission = run.admitted(name, read)
    try:
        question = next(admission)
        while True:
            try:
                answer = run.answer(question)
                if inspect.isawaitable(answer):
                    if inspect.iscoroutine(answer):
                        answer.close()
                    raise TypeError("`ask` answers with an awaitable, and the tool is not asynchronous")
            except Exception as error:
                question = admission.throw(error)
            else:
                question = admission.send(answer)
    except StopIteration as begun:
        return _Made(run, begun.value)


async def _admit_async(run: GuardedRun, name: str, read: Callable[[], dict[str, Any]]) -> _Made:
    admission = run.admitted(name, read)
    try:
        question = next(admission)
        while True:
            try:
                answer = run.answer(question)
                if inspect.isawaitable(answer):
                    answer = await answer
            except Exception as error:
                question = admission.throw(error)
            else:
                question = admission.send(answer)
    except StopIteration as begun:
        return _Made(run, begun.value)


async def _awaited(made: _Made, start: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """A coroutine followed to its end."""
    try:
        result = await start()
    except BaseException as error:
        made.failed(error)
        raise
    made.show(result)
    made.over("ok")
    return result


def _followed(made: _Made, start: Callable[[], Generator[Any, Any, R]]) -> Generator[Any, Any, R]:
    """A generator followed to its end; what it yields is what it shows."""
    try:
        inner = start()
        item = next(inner)
        while True:
            made.show(item)
            try:
                sent = yield item
            except GeneratorExit:
                inner.close()
                raise
            except BaseException as error:
                item = inner.throw(error)
            else:
                item = inner.send(sent)
    except StopIteration as stop:
        result: R = stop.value
        made.show(result)
        made.over("ok")
        return result
    except BaseException as error:
        made.failed(error)
        raise


def guarded_tool(tool: Callable[P, R], reader: Reader, current: Callable[[], GuardedRun]) -> Callable[P, R]:
    """The tool as it is called: each call admitted first, and followed to its end."""
    call = cast("Callable[..., Any]", tool)
    name = reader.name

    def guarded(*args: Any, **kwargs: Any) -> Any:
        made = _admit(current(), name, reader.bound(args, kwargs))
        try:
            result = call(*args, **kwargs)
        except BaseException as error:
            made.failed(error)
            raise
        return made.returned(result)

    async def guarded_async(*args: Any, **kwargs: Any) -> Any:
        made = await _admit_async(current(), name, reader.bound(args, kwargs))
        return await _awaited(made, lambda: call(*args, **kwargs))

    def guarded_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        made = _admit(current(), name, reader.bound(args, kwargs))
        return (yield from _followed(made, lambda: call(*args, **kwargs)))

    async def guarded_async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        made = await _admit_async(current(), name, reader.bound(args, kwargs))
        try:
            inner = call(*args, **kwargs)
            item = await anext(inner)
            while True:
                made.show(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    item = await inner.athrow(error)
                else:
                    item = await inner.asend(sent)
        except StopAsyncIteration:
            made.over("ok")
        except BaseException as error:
            made.failed(error)
            raise

    if _is(inspect.iscoroutinefunction, tool):
        chosen: Callable[..., Any] = guarded_async
    elif _is(inspect.isgeneratorfunction, tool):
        chosen = guarded_generator
    elif _is(inspect.isasyncgenfunction, tool):
        chosen = guarded_async_generator
    else:
        chosen = guarded
    has_own = inspect.isfunction(tool) or inspect.ismethod(tool)
    return cast("Callable[P, R]", wraps(tool, updated=("__dict__",) if has_own else ())(chosen))


def _is(test: Callable[[object], bool], tool: object) -> bool:
    """Whether a tool is a function of some sort, or an object that is called by one."""
    return test(tool) or test(type(tool).__call__)
