"""A step of a script in the making: its roles are filled one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.tree import plain
from vigil_lang.abstraction.scripts.values import (
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Sequence,
    Thing,
    Value,
    is_pattern,
    origins_of,
    text_of,
)
from vigil_lang.abstraction.step import Step
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.site import Site
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.tree import Expr
    from vigil_lang.abstraction.scripts.values import Request


MAX_TEXTS = 64
"""Texts of one argument, and arguments of one call, that a step carries."""

MAX_PARTS = 2000
"""Parts of one argument that are looked at."""

_BY_ADDRESS = {"file.read": "net.request", "file.write": "net.upload"}


_LOOKS = frozenset({"file.read", "file.move", "file.link", "archive.create", "net.upload", "media.convert"})
"""What of these kinds gets at what is in its files."""

_AS_A_SHELL = frozenset({"glob.glob", "glob.iglob"})
"""Searches that pass over hidden files."""


def _is_found(value: Value) -> bool:
    """Whether some of a value is a pattern for what a folder was found to hold."""
    parts = value.items if isinstance(value, Sequence) else (value,)
    return any(
        is_pattern(each) and ("**" in (text_of(each) or "") or not _AS_A_SHELL.issuperset(origins_of(each) or ("",)))
        for each in parts
    )


class Draft:
    """A step in the making."""

    def __init__(self, run: Run, action: str, kinds: tuple[str, ...]) -> None:
        self.run = run
        self.action = action
        self.kinds = list(kinds)
        self.roles: dict[str, tuple[str, ...]] = {}
        self.unresolved: dict[str, None] = {}
        self.found = False
        """Whether its paths are patterns that stand for hidden files and files in folders below, too."""
        self.address: str | None = None
        """The shape of an address some of which is not known."""
        self.sent = False
        """Whether its address is that of a request which was made before."""

    def done(self, site: Site, content: str | None = None) -> Step:
        """Adds the step to those of the run."""
        run = self.run
        excerpt, line = run.excerpt(site.line, site.scope)
        if scripts := run.scripts(site.scope):
            self.roles["from_script"] = scripts
        step = Step(
            self.action,
            tuple(dict.fromkeys(self.kinds)),
            self.roles,
            tuple(self.unresolved),
            inferred=True,
            if_ok="ok" if run.certain else "unknown",
            excerpt=excerpt,
            line=line,
            content=content,
            reads="found" if self.found and not _LOOKS.isdisjoint(self.kinds) else "",
        )
        run.spend(len(self.roles) // 4)
        run.add(step, (self.action, step.kinds, tuple(self.roles.items()), excerpt, line))
        return step

    def give(self, name: str, node: Expr, value: Value) -> None:
        """Puts an argument under a name: its value, what it is called and where it comes from."""
        texts: list[tuple[str, str]] = []
        if not _flatten(name, value, texts):
            self.unresolved[name] = None
        for key, text in texts[:MAX_TEXTS]:
            self.roles[key] = (*self.roles.get(key, ()), text)
            self.run.spend(len(text) // 256)
        called = _name_of(node, value)
        if called:
            self.roles[f"{name}.name"] = (called,)
        origins = origins_of(value)
        if origins:
            self.roles[f"{name}.from"] = origins

    def send(self, request: Request) -> None:
        """It sends a request that was made before: its address and its method are the request's."""
        self.kinds += request.kinds
        self.roles.update(request.roles)
        self.unresolved.update(dict.fromkeys(request.unresolved))
        self.sent = True

    def role(self, role: str, value: Value) -> None:
        """Fills a role of the vocabulary; paths are resolved, an address in the place of a path is one.

        A truth value is no path: with one, a function is told to write nowhere.
        """
        known = vocabulary().roles.get(role)
        if isinstance(value, bool) and known is not None and known.type == "path":
            value = None
        self.found = self.found or _is_found(value)
        if role == "url" and isinstance(value, Thing):
            self.address = value.shape
        texts: list[tuple[str, str]] = []
        complete = _flatten(role, value, texts)
        found: list[str] = []
        local: list[str] = []
        for key, text in texts[:MAX_TEXTS]:
            if key != role:
                continue
            is_path = known is not None and known.type == "path"
            if text.startswith("file:") and (is_path or role == "url"):
                (found if is_path else local).append(_local(text))
            elif not is_path:
                found.append(text.upper() if role == "method" else text)
            elif "://" in text:
                self.roles["url"] = (*self.roles.get("url", ()), text)
                self.kinds = [_BY_ADDRESS.get(k, k) for k in self.kinds]
            else:
                path = self.run.path(text)
                complete &= path is not None
                found += [path] if path is not None else []
        if local:
            self.roles["path"] = (*self.roles.get("path", ()), *local)
            self.kinds = ["file.read" if kind in ("net.request", "net.download") else kind for kind in self.kinds]
        if found:
            self.roles[role] = tuple(found)
        else:
            self.roles.pop(role, None)
        if complete:
            self.unresolved.pop(role, None)
        else:
            self.unresolved[role] = None


def _local(address: str) -> str:
    """The path of a file that is named by an address: `file:///a`, `file://localhost/a`."""
    return "/" + address.removeprefix("file:").removeprefix("//localhost").lstrip("/")


def _flatten(name: str, value: Value, texts: list[tuple[str, str]]) -> bool:
    """Collects the texts of a value by name; whether that is all there is to it."""
    waiting = [(name, value, 0)]
    complete = True
    for _ in range(MAX_PARTS):
        if not waiting:
            return complete
        name, value, depth = waiting.pop()
        if depth > 8 or len(texts) > MAX_TEXTS or len(name) > 200:
            break
        match value:
            case None | Function() | Class() | Object():
                pass
            case Sequence():
                complete &= not value.open
                waiting += [(name, item, depth + 1) for item in reversed(value.items)]
            case Mapping():
                complete &= not value.open
                waiting += [(f"{name}.{key}", item, depth + 1) for key, item in reversed(value.items.items())]
            case _:
                text = text_of(value)
                complete &= text is not None
                if text is not None:
                    texts.append((name, text))
    return False


def _name_of(node: Expr, value: Value) -> str | None:
    """What an argument is called: its name where it is a plain name or attribute, what it refers to if imported."""
    return value.name if isinstance(value, Ref) and plain(node) else plain(node)
