"""A table of the catalogue, as TOML gives it, made into a `Program`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from vigil_lang.abstraction.catalogue.programs import Change, Operand, Option, Program, Slot

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMS = ("code", "script", "module", "command", "shell", "elsewhere")

FLAGS = frozenset({"plus", "single", "stop", "strict", "itself", "unseen"})
TEXTS = frozenset(
    {"summary", "switches", "values", "optional", "bundle", "ignore", "chdir", "reads"}
    | {"environment", "settings", "families", "runs", "safe", "versions", "base"}
)
ROLES = frozenset({"into", "within", "remote"})
LISTS = frozenset({"aliases", "kinds", "operands", "same", "when"})
TABLES = frozenset({"roles", "effects", "default", "derive", "suffix", "set", "commands", "forms"})
FIELDS = FLAGS | TEXTS | ROLES | LISTS | TABLES | {"stdin", "feed", "assign"}
"""The keys an entry may have."""
CONDITIONS = frozenset({"has", "with", "lacks", "arg", "like", "remote", "fed"})
CHANGES = frozenset({"kinds", "also", "operands", "effects", "stdin", "default", "derive", "set", "unseen", "reads"})
"""The keys an entry of `when` may have."""

_Operands = tuple[tuple[Operand, ...], tuple[Operand, ...] | None]


def build(
    name: str, table: Mapping[str, Any], subject: str = "", commands: Mapping[str, Program] | None = None
) -> Program:
    """The program of a table; its subcommands are given apart."""
    operands, trailing = _operands(table.get("operands", ()), table.get("forms", {}))
    kinds = table.get("kinds")
    when = tuple(_change(each) for each in table.get("when", ()))
    changed = [place for change in when if change.operands for place in change.operands[0]]
    return Program(
        name=name,
        summary=table.get("summary", ""),
        subject=subject,
        kinds=None if kinds is None else tuple(kinds),
        options=_options(table),
        operands=operands,
        trailing=trailing,
        effects=_effects(table.get("effects", {})),
        into=table.get("into", ""),
        within=table.get("within", ""),
        stdin=table.get("stdin", ""),
        feed=table.get("feed", ""),
        remote=table.get("remote", ""),
        plus=table.get("plus", False),
        single=table.get("single", False),
        stop=table.get("stop", False),
        strict=table.get("strict", False),
        itself=table.get("itself", False),
        bundle=table.get("bundle", "") == "first",
        assign=table.get("assign", ""),
        ignore=frozenset(table.get("ignore", "").split()),
        chdir=frozenset(table.get("chdir", "").split()),
        default=table.get("default", {}),
        derive=table.get("derive", {}),
        suffix=table.get("suffix", {}),
        set=table.get("set", {}),
        when=when,
        unseen=table.get("unseen"),
        reads=table.get("reads"),
        environment=frozenset(table.get("environment", "").split()),
        settings=tuple(table.get("settings", "").split()),
        safe=tuple(table.get("safe", "").split()),
        families=tuple(table.get("families", "").split()),
        versions=frozenset(table.get("versions", "").split()),
        base=table.get("base", ""),
        hands_over=any(place.slot.rest for place in (*operands, *changed)),
        commands=commands,
    )


def slot(text: str) -> Slot:
    """What ``role``, ``code:python``, ``script:python...``, ``command...`` stand for.

    ``@source`` is data that may name a file (``@file``), ``=@source`` a form's field that may (``name=@file``).
    """
    if text[:1] == "@" or text[:2] == "=@":
        return Slot(text.lstrip("=@"), "upload", text[0])
    rest = text.endswith("...")
    form, _, language = text.removesuffix("...").partition(":")
    if form not in _FORMS or not (rest or language):
        return Slot(text)
    role = {"code": "code", "script": "script", "module": "module", "elsewhere": "command"}.get(form, "_")
    return Slot(role, cast(Any, form), language, rest)


def _options(table: Mapping[str, Any]) -> dict[str, Option]:
    found: dict[str, Option] = {}

    def add(option: Option) -> None:
        for name in option.names:
            found[name] = option

    for names in table.get("switches", "").split():
        add(Option(tuple(names.split(","))))
    for names in table.get("values", "").split():
        add(Option(tuple(names.split(",")), "value"))
    for names in table.get("optional", "").split():
        add(Option(tuple(names.split(",")), "attached"))
    for key, role in table.get("roles", {}).items():
        names = tuple(key.replace(",", " ").split())
        add(_with_role(names, role))
    for name in table.get("chdir", "").split():
        if name not in found:
            add(Option((name,), "value"))
    for names in table.get("same", ()):
        joined = tuple(names.replace(",", " ").split())
        first = next((found[each] for each in joined if each in found), Option(joined))
        add(first._replace(names=joined))
    for name in table.get("runs", "").split():
        if name in found:
            add(found[name]._replace(runs=True))
    return found


def _with_role(names: tuple[str, ...], role: str) -> Option:
    """An option by what its value is, ``_2`` (two words) and ``_+`` (all up to the next option) among it."""
    match role:
        case "command;":
            return Option(names, "value", Slot("_", "command"), until=True)
        case "_+":
            return Option(names, "value", words=0)
        case _ if role[0] == "_" and role[1:].isdigit():
            return Option(names, "value", words=int(role[1:]))
        case _ if role[-1] == "?":
            return Option(names, "attached", slot(role[:-1]))
    return Option(names, "value", slot(role))


def _operands(specs: Any, forms: Mapping[str, str]) -> _Operands:
    places = tuple(_operand(spec, forms) for spec in specs if spec != "--")
    if "--" not in specs:
        return places, None
    at = specs.index("--")
    return places[:at], places[at:]


def _operand(spec: str, forms: Mapping[str, str]) -> Operand:
    bare = spec.rstrip("?*+")
    mark = spec[len(bare) :]
    required = mark not in ("?", "*") and not bare.endswith("...")
    return Operand(slot(bare), required, mark in ("*", "+"), forms.get(bare, ""))


def _effects(table: Mapping[str, str | list[str]]) -> dict[str, tuple[str, ...]]:
    return {role: (kinds,) if isinstance(kinds, str) else tuple(kinds) for role, kinds in table.items()}


def _change(table: Mapping[str, Any]) -> Change:
    has, also_has, lacks = (tuple(table.get(key, "").split()) for key in ("has", "with", "lacks"))
    arg, like = (table.get(key, "").partition("=") for key in ("arg", "like"))
    kinds, stdin, operands, effects = (table.get(key) for key in ("kinds", "stdin", "operands", "effects"))
    return Change(
        has=has,
        also_has=also_has,
        lacks=lacks,
        arg=(arg[0], arg[2]) if arg[1] else None,
        like=(like[0], like[2]) if like[1] else None,
        remote=table.get("remote"),
        fed=table.get("fed"),
        early=not arg[1]
        and not like[1]
        and "remote" not in table
        and all(name[0] in "-+" for name in has + also_has + lacks),
        kinds=None if kinds is None else tuple(kinds),
        also=tuple(table.get("also", ())),
        operands=None if operands is None else _operands(operands, {}),
        effects=None if effects is None else _effects(effects),
        stdin=stdin,
        default=table.get("default"),
        derive=table.get("derive"),
        set=table.get("set", {}),
        unseen=table.get("unseen"),
        reads=table.get("reads"),
    )
