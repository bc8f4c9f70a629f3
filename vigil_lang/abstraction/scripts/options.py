"""`argparse`: what the options of a script are, given its command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.callbacks import call_handed
from vigil_lang.abstraction.scripts.values import UNKNOWN, Class, Object, Sequence, Thing, items_of, opaque

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.site import Arguments
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Env, Value


_PARSER = "argparse.ArgumentParser"

_METHODS = ["add_argument", "parse_args", "parse_known_args", "add_argument_group", "add_mutually_exclusive_group"]

_METHODS += ["set_defaults", "add_subparsers", "add_parser"]

NAMES = (_PARSER, *(f"{_PARSER}.{m}" for m in _METHODS))

_MAX_OPTIONS = 200


def call(run: Run, name: str, this: Thing | None, given: Arguments) -> Value:
    """A call of `argparse`."""
    if this is None:
        if "fromfile_prefix_chars" in given.named:
            run.open("options are read from files that the command line names")
        return Thing(name=_PARSER, options=[])
    match name.rpartition(".")[2]:
        case "add_argument":
            names = tuple(v for _, v in given.positional if isinstance(v, str))
            if this.options is not None and len(this.options) < _MAX_OPTIONS and names and not given.more:
                this.options.append((names, {k: v for k, (_, v) in given.named.items()}))
            call_handed(run, given, UNKNOWN)
            return UNKNOWN
        case "set_defaults":
            call_handed(run, given, UNKNOWN)
            for key, (_, value) in given.named.items():
                _set_default(this, key, value)
            return UNKNOWN
        case "parse_args":
            return _parsed(run, this, given)
        case "parse_known_args":
            return Sequence([_parsed(run, this, given), Sequence(open=True)])
        case _:
            return this


def _set_default(parser: Thing, name: str, value: Value) -> None:
    """Another value that an attribute may have: each subcommand's parser sets its own."""
    options = parser.options if parser.options is not None else []
    for names, settings in options:
        if names == (name,):
            settings["default"] = opaque(settings.get("default"), value)
            return
    if len(options) < _MAX_OPTIONS:
        options.append(((name,), {"default": value, "action": "set_defaults"}))


def _parsed(run: Run, parser: Thing, given: Arguments) -> Value:
    """The namespace of a command line; what does not fit the options, or is not known, leaves them unknown."""
    options = parser.options or []
    found: Env = {}
    for names, settings in options:
        flag = settings.get("action") in ("store_true", "store_false")
        default = settings.get("action") == "store_false" if flag else None
        found[_attribute(names, settings)] = settings.get("default", default)
    line = given.get(0, "args")
    words = items_of(line if line is not None else _after_first(run.argv))
    texts = [w for w in words or () if isinstance(w, str)]
    if words is None or len(texts) != len(words) or not _fill(options, texts, found):
        found = {_attribute(names, settings): _unknown(settings) for names, settings in options}
    return Object(Class("argparse.Namespace", {}), found)


def _after_first(argv: Value) -> Value:
    return Sequence(argv.items[1:], argv.open) if isinstance(argv, Sequence) else UNKNOWN


def _attribute(names: tuple[str, ...], settings: Env) -> str:
    given = settings.get("dest")
    if isinstance(given, str):
        return given
    long = next((n for n in names if n.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


def _fill(options: list[tuple[tuple[str, ...], Env]], words: list[str], found: Env) -> bool:
    """Fills in what a command line gives; False where it does not fit."""
    by_name = {n: (names, settings) for names, settings in options for n in names if n.startswith("-")}
    places = [
        (names, settings)
        for names, settings in options
        if not names[0].startswith("-") and settings.get("action") != "set_defaults"
    ]
    rest: list[str] = []
    i = 0
    while i < len(words):
        word, equals, value = words[i].partition("=")
        i += 1
        if word in by_name:
            names, settings = by_name[word]
            action = settings.get("action")
            if action in ("store_true", "store_false"):
                found[_attribute(names, settings)] = action == "store_true"
                continue
            if action is not None or settings.get("nargs") is not None:
                found[_attribute(names, settings)] = UNKNOWN
                while i < len(words) and not words[i].startswith("-"):
                    i += 1
                continue
            if not equals:
                if i >= len(words):
                    return False
                value, i = words[i], i + 1
            found[_attribute(names, settings)] = _typed(value, settings)
        elif word.startswith("-") and len(word) > 1:
            return False
        else:
            rest.append(words[i - 1])
    for names, settings in places:
        many = settings.get("nargs")
        if many in ("*", "+"):
            found[_attribute(names, settings)] = Sequence(list(rest))
            rest = []
        elif rest:
            found[_attribute(names, settings)] = _typed(rest.pop(0), settings)
        elif many != "?":
            return False
    return not rest


def _unknown(settings: Env) -> Value:
    """A value of the type an option has."""
    if settings.get("action") == "set_defaults":
        return settings["default"]
    return Thing(name="pathlib.Path") if getattr(settings.get("type"), "name", "") == "pathlib.Path" else UNKNOWN


def _typed(text: str, settings: Env) -> Value:
    """The text an option is given as the type it has; a number that a path is made of is written as it is."""
    kind = settings.get("type")
    name = getattr(kind, "name", "")
    if name == "pathlib.Path":
        return Thing(name="pathlib.Path", text=text)
    if name in ("int", "float") and len(text) < 30:
        try:
            return int(text) if name == "int" else float(text)
        except ValueError:
            return UNKNOWN
    return text if name in ("", "str") else UNKNOWN
