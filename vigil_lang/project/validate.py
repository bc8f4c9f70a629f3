"""Settings from the data of a configuration; whatever is wrong with it is a finding at its place."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec.structs import fields

from vigil_lang.base.files import lies_in, project_root, real_path
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.diagnostics.diagnostic import differ_by_a_slip
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible
from vigil_lang.project.paths import parted
from vigil_lang.project.positions import Place
from vigil_lang.project.selection import is_selector
from vigil_lang.project.settings import Configuration, Settings, Table, Tool
from vigil_lang.project.shape import Kind, bare_type, is_table, note_of, origin_of, tables
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from vigil_lang.diagnostics import Source, Span

MAX_FINDINGS = 50
_SHOWN = 60
_BY_ENVIRONMENT = frozenset({"base-url", "base_url", "url", "api-key", "api_key", "key"})
"""No settings, for a configuration may come with a document, and would send a key to wherever it likes."""


def validate(
    data: dict[str, Any], place: Place, source: Source, folder: Path, base: str
) -> tuple[Settings, list[Diagnostic]]:
    """The settings that are valid, the others as if they were not set, and the findings in order.

    `folder` holds the file; `base` is its path as paths are shown, with a slash at the end, or empty.
    """
    valid, findings = validated(Configuration, data, place, source, {"path": Root(folder, base)})
    return Settings(**valid, folder=folder), findings


@dataclass(frozen=True, slots=True)
class Root:
    """Where paths of a kind start: a folder, the same as paths are shown (with a slash at the end, or empty), and
    what messages call that, with what to do where a path leads out of its project."""

    folder: Path
    base: str
    what: str = "configuration"
    elsewhere: str | None = None


def validated(
    top: type[Table], data: dict[str, Any], place: Place, source: Source, roots: Mapping[str, Root]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """What is valid of a file's table, by the names of its attributes, and the findings in order.

    `roots` says for each `check` of paths where they start. What a table needs and does not have is a finding.
    """
    validator = _Validator(top, source, roots)
    valid = validator.table(top, data, place)
    return valid, _first(sorted(validator.findings, key=lambda f: f.span.start))


@cache
def _homes(top: type[Table]) -> dict[str, str]:
    """The table of each setting, by the setting's name in it."""
    return {f.encode_name: home for home, table in reversed(tables(top).items()) for f in fields(table)}


def _first(findings: list[Diagnostic]) -> list[Diagnostic]:
    """The first of very many findings, errors before warnings, and how many there are beside them."""
    if len(findings) <= MAX_FINDINGS:
        return findings
    kept = sorted(findings, key=lambda f: f.severity != "error")[:MAX_FINDINGS]
    message = f"{len(findings) - MAX_FINDINGS:,} more findings are not shown"
    more = Diagnostic.of("VGL006", message, findings[0].source, kept[-1].span)
    return [*sorted(kept, key=lambda f: f.span.start), more]


@dataclass(slots=True)
class _Validator:
    """Validates one file; `roots` as in `validated`."""

    top: type[Table]
    source: Source
    roots: Mapping[str, Root]
    findings: list[Diagnostic] = field(default_factory=list)

    def table(self, kind: type[Table], data: dict[str, Any], place: Place, section: str = "") -> dict[str, Any]:
        """The valid settings of a table, by the names of their attributes."""
        known = {f.encode_name: f for f in fields(kind)}
        valid: dict[str, Any] = {}
        for key, value in data.items():
            at = place.members.get(key, place)
            if key not in known:
                self._unknown(section, key, at.key, known)
            elif not is_table(known[key].type):
                name = f"{section}.{key}" if section else key
                if (taken := self._value(known[key].type, value, at, name)) is not None:
                    valid[known[key].name] = taken
            elif isinstance(value, dict):
                if (inner := self._table(known[key].type, value, at, key)) is not None:
                    valid[known[key].name] = inner
            else:
                self._fail(f"`{key}` is a table: write `[{key}]`", at.key)
        return valid

    def _value(self, kind: Kind, value: object, place: Place, name: str, *, item: bool = False) -> Any:
        """A value without those parts that are not valid; None where nothing remains.

        `name` is the setting's, or that of the setting that the value is an `item` of.
        """
        bare = bare_type(kind)
        if is_table(bare) and isinstance(value, dict):
            return self._tool(value, place, name) if bare is Tool else self._table(bare, value, place, name)
        match origin_of(bare), value:
            case origin, list() if origin is tuple:
                inner = get_args(bare)[0]
                taken = (
                    self._value(inner, one, at, name, item=True) for one, at in zip(value, place.items, strict=True)
                )
                return tuple(one for one in taken if one is not None)
            case origin, dict() if origin is Mapping:
                return self._mapping(get_args(bare), value, place, name)
        check = note_of(kind, "check")
        try:
            valid: Any = _AS_WRITTEN[check](value) if check in _AS_WRITTEN else msgspec.convert(_number(value), kind)
        except msgspec.ValidationError:
            self._refuse(kind, value, place, f"an item of `{name}`" if item else f"`{name}`")
            return None
        match check:
            case "code":
                return self._code(valid, place)
            case kind_of_path if kind_of_path in self.roots:
                return self._path(valid, place, self.roots[kind_of_path])
            case "glob":
                return self._glob(valid, place)
            case "kind":
                self._slip(valid, "kind", vocabulary().kinds, place, quoted=True)
            case "role":
                self._slip(valid, "role", vocabulary().roles, place, quoted=False)
        return valid

    def _mapping(self, kinds: tuple[Kind, Kind], table: dict[str, object], place: Place, name: str) -> dict[str, Any]:
        taken = {}
        for key, value in table.items():
            at = place.members.get(key, place)
            valid = self._value(kinds[1], value, at, f"{name}.{_short(key)}")
            if (key := self._value(kinds[0], key, Place(at.key, at.key), name)) is not None and valid is not None:
                taken[key] = valid
        return taken

    def _table(self, kind: type[Table], table: dict[str, Any], place: Place, name: str) -> Table | None:
        """A table; None where it lacks what it needs."""
        valid = self.table(kind, table, place, name)
        needed = [f for f in fields(kind) if f.required and f.name not in valid]
        for missing in needed:
            if missing.encode_name not in table:
                self._fail(f"`{name}` needs `{missing.encode_name}`", place.key)
        return None if needed else kind(**valid)

    def _tool(self, table: dict[str, Any], place: Place, name: str) -> Tool:
        """A tool of the project's own. Of one that is shipped, more may be said and nothing else."""
        from vigil_lang.abstraction.tools import tool

        called = name.partition(".")[2]
        for key in table.keys() - {"kinds", "roles"} if tool(called).is_shipped else ():
            message = f"`{_short(called)}` is a shipped tool: `{_short(key)}` of it cannot be set"
            at = place.members.get(key, place).key
            self._fail(message, at, "`kinds` and `roles` can be added to those that it has")
        found = Tool(**self.table(Tool, table, place, name))
        made = (("query",) if "sql" in found.code else ()), (("host",) if "url" in found.roles else ())
        roles = set(found.roles).union(*made)
        self._reversed(found, place.members.get("roles", place))
        effects = place.members.get("effects", place)
        for role in found.effects.keys() - roles if not tool(called).is_shipped else ():
            at = effects.members.get(role, effects).key
            given = f"its roles are {_list(sorted(roles))}" if roles else "`roles` says which argument has one"
            self._warn(f"`{_short(role)}` is no role of `{_short(called)}`: this effect never happens", at, given)
        return found

    def _reversed(self, found: Tool, place: Place) -> None:
        """Say that a role stands where the argument should, and the argument before it: `{sum = "amount"}`."""
        known = vocabulary()
        own = {role for kind in found.kinds if kind in known.kinds for role in known.kinds[kind].roles}
        for name, role in found.roles.items():
            if name in known.roles or not isinstance(role, str) or role not in own - found.roles.keys():
                continue
            at = place.members.get(name, place)
            message = f"`{_short(name)}` is no role of the vocabulary, and `{role}` is one of such a call"
            plain = name.isidentifier() and name.isascii()
            swap = Fix(f"write `{role} = …`", (Edit(at.key, role), Edit(at.value, f'"{name}"'))) if plain else None
            self._warn(message, at.key, "the role stands first, the argument that holds it behind it", swap)

    def _refuse(self, kind: Kind, value: object, place: Place, what: str) -> None:
        """Say what a value must be, and how to mend it where that is plain."""
        written = self.source.text[slice(*place.value)]
        help_text, fix = None, None
        if isinstance(value, str):
            near = self._near(value, get_args(bare_type(kind))) if origin_of(bare_type(kind)) is Literal else None
            if near:
                help_text, fix = f"did you mean `{near}`?", Fix(f"write `{near}`", (Edit(place.value, f'"{near}"'),))
            elif origin_of(bare_type(kind)) is tuple:
                fix = Fix("make it a list", (Edit(place.value, f"[{written}]"),), safe=True)
        elif isinstance(value, int | Decimal) and note_of(kind, "noun") == "share" and 1 < _number(value) <= 100:
            help_text = f"{value} percent is {Decimal(value) / 100}"
        kinds = {list: "a list", dict: "a table"}
        found = next((noun for one, noun in kinds.items() if isinstance(value, one)), f"`{_short(written)}`")
        self._fail(f"{what} is {_described(kind)}, not {found}", place.value, help_text, fix)

    def _fail(self, message: str, span: Span, help_text: str | None = None, fix: Fix | None = None) -> None:
        self.findings.append(Diagnostic.of("VGL005", message, self.source, span, help=help_text, fix=fix))

    def _code(self, value: str, place: Place) -> str | None:
        if is_selector(value):
            return value
        near = value.upper() if is_selector(value.upper()) else None  # near by digits is another code
        help_text = (
            f"did you mean `{near}`?" if near else "a code is `VGL` and three digits, a prefix the beginning of some"
        )
        fix = Fix(f"write `{near}`", (Edit(place.value, f'"{near}"'),)) if near else None
        self._fail(f"`{_short(value)}` is neither a code nor the beginning of one", place.value, help_text, fix)
        return None

    def _path(self, value: str, place: Place, root: Root) -> str | None:
        """A path or glob from the folder of its root, as seen from where loading started."""
        message, help_text = None, None
        if not value or "\0" in value:
            message = "a path cannot be empty" if not value else "a path cannot hold a NUL character"
        elif value.startswith("~"):
            message = f"`~` is not expanded in `{_short(value)}`"
            help_text = f"paths are taken from the folder of the {root.what}"
        elif not _stays(value, root.folder):
            message = f"`{_short(value)}` leads out of the project of the {root.what}"
            help_text = root.elsewhere
        if message is not None:
            self._fail(message, place.value, help_text)
            return None
        if not root.base or Path(value).is_absolute():
            return value
        return (glob.escape(root.base) if glob.has_magic(value) else root.base) + value

    def _slip(self, value: str, noun: str, known: Collection[str], place: Place, *, quoted: bool) -> None:
        """Say that a name is all but one of the vocabulary's; other names are a project's own."""
        near = self._near(value, known) if value not in known else None
        if near is not None and differ_by_a_slip(value, near):
            fix = Fix(f"write `{near}`", (Edit(place.value, f'"{near}"' if quoted else near),))
            message = f"the vocabulary has no {noun} `{_short(value)}`"
            self._warn(message, place.value, f"did you mean `{near}`?", fix)

    def _warn(self, message: str, span: Span, help_text: str | None = None, fix: Fix | None = None) -> None:
        self.findings.append(Diagnostic.of("VGL006", message, self.source, span, help=help_text, fix=fix))

    def _glob(self, value: str, place: Place) -> str | None:
        reason, help_text = None, None
        if not value.strip("/"):
            reason = "names nothing"
        elif ".." in value.split("/"):
            reason = "leads out of the folder of the configuration, where it matches nothing"
        elif "\\" in value:
            reason, help_text = "has a backslash", "folders are separated by `/`"
        if reason is None:
            return value
        self._fail(f"the glob `{_short(value)}` {reason}", place.value, help_text)
        return None

    def _unknown(self, section: str, key: str, span: Span, known: Iterable[str]) -> None:
        if len(self.findings) > MAX_FINDINGS:  # only how many there are will be told
            self.findings.append(Diagnostic.of("VGL006", "", self.source, span))
            return
        name = f"{section}.{_short(key)}" if section else _short(key)
        help_text, fix = self._meant(section, key, span, known)
        self._warn(f"there is no setting `{name}`", span, help_text, fix)

    def _meant(self, section: str, key: str, span: Span, known: Iterable[str]) -> tuple[str | None, Fix | None]:
        """What to do about an unknown key, and the fix where that is another spelling."""
        if not section and key == "tool":
            return "in a file of its own the settings stand at the top: `[lint]`, not `[tool.vigil.lint]`", None
        if section == "draft" and key in _BY_ENVIRONMENT:
            return "address and key are set by the environment: ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY", None
        homes = _homes(self.top)
        if key in homes:
            home = f"in `[{homes[key]}]`" if homes[key] else "at the top of the file, before any table"
            return f"`{key}` belongs {home}", None
        if near := self._near(key, known):
            # As a bare key, whatever the quotes around the wrong one were.
            return f"did you mean `{near}`?", Fix(f"write `{near}`", (Edit(span, near),))
        if far := self._near(key, homes):
            return f"did you mean `{homes[far]}.{far}`?" if homes[far] else f"did you mean `{far}`?", None
        return f"there is {_list(known)}", None

    def _near(self, value: str, names: Iterable[str]) -> str | None:
        """The nearest name; of very many findings only the first are shown, and the search takes its time."""
        near = nearest(value[: 2 * _SHOWN], names, 1) if len(self.findings) <= MAX_FINDINGS else ()
        return near[0] if near else None


def _stays(value: str, folder: Path) -> bool:
    """Whether a path lies in the project; of a glob its beginning, for what it finds is looked at when it does."""
    root = project_root(Path(real_path(folder)))
    start, rest = parted(value)
    return ".." not in rest and all(lies_in(folder / path, root) for path in (value, start))


def _described(kind: Kind) -> str:
    """What a value of a type is, in words."""
    bare = bare_type(kind)
    if bare is bool:
        return "`true` or `false`"
    match origin_of(bare):
        case origin if origin is Literal:
            return f"one of {_list(get_args(bare))}"
        case origin if origin is tuple:
            return f"a list of {_plural(get_args(bare)[0])}"
        case origin if origin is Mapping:
            return f"a table of {_plural(get_args(bare)[1])}"
    if whole := note_of(kind, "described"):
        return str(whole)
    noun = note_of(kind, "noun") or {int: "whole number", float: "number"}[bare]
    least, most = note_of(kind, "ge"), note_of(kind, "le")
    return f"a {noun}" if least is None else f"a {noun} from {least:,} to {most:,}"


def _plural(kind: Kind) -> str:
    bare = bare_type(kind)
    return f"lists of {_plural(get_args(bare)[0])}" if origin_of(bare) is tuple else f"{note_of(kind, 'noun')}s"


def _number(value: object) -> Any:
    """A number with a point as a float, or an int where it is whole, as in JSON."""
    if not isinstance(value, Decimal):
        return value
    number = float(value)
    return int(number) if number.is_integer() else number


def _param(value: object) -> object:
    """The value of a param; its numbers stay as they are written."""
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, str | int) and not (isinstance(one, Decimal) and one.is_finite()):
            raise msgspec.ValidationError
    return value


def _argument(value: object) -> object:
    """The names of arguments that may hold something, the first present one counts."""
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(one, str) and one for one in names):
        raise msgspec.ValidationError
    return value


_AS_WRITTEN = {"param": _param, "argument": _argument}


def _short(text: str) -> str:
    return visible(cut(text, _SHOWN))


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
