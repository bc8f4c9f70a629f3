"""Rules in the notation `when:` / `and:` / `or:` / `then:` / `record:` (YAML), as a policy (docs/gate-rules.md).

A rule holds of a call where `when` does and one of its alternatives: the conditions under `and`, all together, or one
under `or`. What a policy cannot say exactly is refused with its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import yaml

from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span, nearest
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax.format import format_text
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_CHARACTERS = 200_000
"""Characters of a file of rules."""

_MAX_DEPTH = 8
_MAX_NESTING = 30
_MEMBERS = ("name", "description", "when", "and", "or", "then", "record")
_MODES = ("pass", "hold", "block")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")

KINDS = {
    "api.call": ("net.request", False),
    "api.invoke": ("net.request", False),
    "command.run": ("shell.run", True),
    "email.send": ("message.send", False),
    "file.create": ("file.write", False),
    "file.modify": ("file.write", False),
    "file.open": ("file.read", True),
    "file.remove": ("file.delete", True),
    "message.post": ("message.send", True),
    "payment.send": ("payment.transfer", True),
}
"""Types of actions by other names: the kind, and whether it has the same calls; if not, it has more."""

ROLES = {
    "destination": "recipient",
    "endpoint": "url",
    "new_value": "value",
    "to": "recipient",
}
"""Parameters by the names of the vocabulary's roles, under which every tool's arguments are found."""

_CONTEXT = {
    "agent": "agent",
    "agent.id": "agent",
    "agent_id": "agent",
    "calls": "calls",
    "detection.tier": "tier",
    "run": "run",
    "run.id": "run",
    "session.id": "run",
    "tier": "tier",
    "time.hour": "hour",
    "time.weekday": "weekday",
    "user": "user",
    "user.id": "user",
    "user_id": "user",
}
"""What is known of the moment, by its names in the notation."""

_HEADS = ("action.", "user.", "context.", "detection.")
_MEANT = frozenset({
    "action", "after", "and", "block", "contains", "distinct", "earlier", "error", "false", "has", "hold", "implies",
    "in", "later", "not", "ok", "or", "output", "pass", "record", "relaxes", "repeated", "rule", "since", "status",
    "then", "true", "until", "violates", "weak", "when", "where", "with",
})  # fmt: skip
"""Words that mean something else where an argument or a param may stand."""

ParamType: TypeAlias = Literal["number", "text", "set"]

_UNTOLD: dict[tuple[str, bool], str] = {
    (">", True): "0",
    (">=", True): "0",
    (">", False): "1000000000000",
    (">=", False): "1000000000000",
    ("<", True): "1000000000000",
    ("<=", True): "1000000000000",
    ("<", False): "0",
    ("<=", False): "0",
    ("matches", True): '{"*"}',
    ("matches", False): "{}",
}
"""A value of the configuration that is not given, by the comparison, and whether the rule is to match all it can."""


@dataclass
class _Param:
    """A value of the user's configuration, and where it is first used."""

    type: ParamType
    default: str
    told: bool


def import_rules_text(source: Source, config: Mapping[str, object] | None = None) -> str:
    """The rules of a file as the formatted text of a policy; `config` has values of `user.config`.

    Raises:
        InputError: VGL617, the file is no list of rules, or something in it cannot be said exactly.
    """
    reader = _Reader(source)
    params: dict[str, _Param] = {}
    names: set[str] = set()
    rules = [_Rule(reader, node, params, config or {}).text(names) for node in reader.rules()]
    stem = re.sub(r"[^A-Za-z0-9_]+", "_", source.path.replace("\\", "/").rpartition("/")[2].partition(".")[0]).strip(
        "_"
    )
    head = f"/// Rules of a gate.\npolicy {stem if _NAME.fullmatch(stem) and stem not in names else 'imported'}\n"
    text = "\n".join([head, *(_param(name, param) for name, param in params.items()), *rules])
    formatted = format_text(Source("imported.vgl", text))
    if errors := read_policy(Source("<stdin>", formatted)).errors:
        raise InputError([Diagnostic.of("VGL617", f"it gives no policy: {errors[0].message}", source)])
    return formatted


def _param(name: str, param: _Param) -> str:
    until = "" if param.told else " Until a value is given, it is the most careful one."
    return f"/// `user.config.{name}`.{until}\nparam {name}: {param.type} = {param.default}\n"


@dataclass
class _Reader:
    """The file as YAML nodes, with their places."""

    source: Source

    def rules(self) -> list[yaml.MappingNode]:
        """The rules, in order: of each document, one or a list of them."""
        if len(self.source.text) > MAX_CHARACTERS:
            self.fail(f"the file is longer than {MAX_CHARACTERS:,} characters")
        try:
            self._check()
            documents = list(yaml.compose_all(self.source.text, Loader=yaml.SafeLoader))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = mark.index if mark else 0
            self.fail(f"this is not YAML: {error.problem or error.context}", Span(at, at))
        except yaml.YAMLError as error:
            at = getattr(error, "position", 0)
            self.fail("this is not YAML: a character that it does not allow", Span(at, at + 1))
        found: list[yaml.MappingNode] = []
        for document in documents:
            inside = document.value if isinstance(document, yaml.SequenceNode) else [document]
            for node in inside:
                if not isinstance(node, yaml.MappingNode):
                    self.fail("a rule has `when` and `then`", self.span(node))
                found.append(node)
        if not found:
            self.fail("the file holds no rules")
        return found

    def _check(self) -> None:
        """Refuse what a rule has no use for, before anything is built of it."""
        depth = 0
        for event in yaml.parse(self.source.text, Loader=yaml.SafeLoader):
            assert event.start_mark is not None
            assert event.end_mark is not None
            span = Span(event.start_mark.index, event.end_mark.index)
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                self.fail("anchors and aliases are not read", span)
            if getattr(event, "tag", None):
                self.fail("tags are not read", span)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                self.fail(f"nested deeper than {_MAX_DEPTH} levels", span)

    def members(self, node: yaml.MappingNode) -> dict[str, yaml.Node]:
        """The members of a rule, each once."""
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if name not in _MEMBERS:
                near = nearest(name, _MEMBERS, 1)
                help_text = f"did you mean `{near[0]}`?" if near else f"a rule has {_listed(_MEMBERS)}"
                self.fail(f"a rule has no `{name}`", self.span(key), help_text)
            if name in found:
                self.fail(f"`{name}` stands twice", self.span(key), f"write a list: `{name}: [ …, … ]`")
            found[name] = value
        for name in ("when", "then"):
            if name not in found:
                self.fail(f"the rule has no `{name}`", self.span(node))
        return found

    def text(self, node: yaml.Node) -> str:
        """A scalar's text."""
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.fail("a text is expected here", self.span(node))
        return str(node.value)

    def texts(self, node: yaml.Node) -> list[yaml.Node]:
        """A scalar, or the elements of a list, at least one."""
        found = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not found:
            self.fail("the list is empty", self.span(node))
        return list(found)

    def span(self, node: yaml.Node) -> Span:
        """Where a node stands."""
        return Span(node.start_mark.index, node.end_mark.index)

    def inside(self, node: yaml.Node, start: int, end: int) -> Span:
        """Where a part of a scalar's text stands; the whole scalar where line breaks or escapes move it."""
        span = self.span(node)
        text, quoted = str(node.value), int(getattr(node, "style", None) in ("'", '"'))
        written = self.source.text[span.start + quoted : span.start + quoted + len(text)]
        return Span(span.start + quoted + start, span.start + quoted + end) if written == text else span

    def fail(self, message: str, span: Span = Span(0, 0), help_text: str | None = None) -> NoReturn:  # noqa: B008
        raise InputError([Diagnostic.of("VGL617", message, self.source, span, help=help_text)])


@dataclass
class _Rule:
    """One rule on its way into the language."""

    reader: _Reader
    node: yaml.MappingNode
    params: dict[str, _Param]
    config: Mapping[str, object]
    types: list[str] = field(default_factory=list)
    tools: bool = False
    asks: list[Span] = field(default_factory=list)
    """Where the rule asks for an argument of the action."""
    grows: bool = True
    """Whether the rule may match more calls than it says: one that holds or blocks, not one that passes."""

    def text(self, names: set[str]) -> str:
        """The rule in the language, under a name that none of `names` is, which gains it."""
        reader, members = self.reader, self.reader.members(self.node)
        then = reader.text(members["then"])
        if then not in _MODES:
            reader.fail("`then` is `pass`, `hold` or `block`", reader.span(members["then"]))
        self.grows = then != "pass"
        when = _joined("and", self._conditions(members["when"]))
        condition = when
        if "and" in members:
            alternatives = [_joined("and", self._conditions(members["and"]))]
            if "or" in members:
                alternatives += self._conditions(members["or"])
            condition = _within(when, _joined("or", alternatives))
        elif "or" in members:
            message = "`or` is another way for `and` to be met, and the rule has no `and`"
            reader.fail(message, reader.span(members["or"]), "write `and` with `or` between its conditions")
        if self.asks and not self.types and not self.tools:
            message = "this is asked of every call, and most do not tell it: the gate would block them"
            reader.fail(message, self.asks[0], "say which calls are meant: `action.type == …`")
        record = self._record(members["record"]) if "record" in members else ""
        described = self._described(members.get("description"))
        name = self._name(members.get("name"), names)
        names.add(name)
        return f"{described}rule {name}: when {condition.text} then {then}{record}\n"

    def _name(self, node: yaml.Node | None, names: set[str]) -> str:
        if node is not None:
            name = self.reader.text(node)
            if not _NAME.fullmatch(name) or name in names:
                why = "is another rule's" if name in names else "is none: letters, digits and `_`"
                self.reader.fail(f"the name `{name}` {why}", self.reader.span(node))
            return name
        first = re.sub(r"[^A-Za-z0-9_]", "_", self.types[0]) if self.types else "unnamed"
        first = first if _NAME.fullmatch(first) else "unnamed"
        numbered = (f"{first}_{n}" for n in range(2, len(names) + 2))
        return next(name for name in (first, *numbered) if name not in names)

    def _described(self, node: yaml.Node | None) -> str:
        lines = self.reader.text(node).splitlines() if node is not None else []
        for line in lines:
            if not line.isprintable():
                assert node is not None
                self.reader.fail("a character that is not printed", self.reader.span(node))
        return "".join(f"/// {line.strip()}\n" for line in lines if line.strip())

    def _conditions(self, node: yaml.Node) -> list[_Said]:
        return [_Expression(self, one).said() for one in self.reader.texts(node)]

    def _record(self, node: yaml.Node) -> str:
        fields = []
        for one in self.reader.texts(node):
            name = self.reader.text(one)
            parameter = re.sub(r"^action\.(params|target)\.", "", name)
            if parameter == name and name in _CONTEXT:
                fields.append(f"context.{_CONTEXT[name]}")
            elif _FIELD.fullmatch(parameter) and not parameter.startswith(_HEADS):
                fields.append(_argument(parameter))
            else:
                self.reader.fail(f"`{name}` is nothing that can be recorded", self.reader.span(one))
        return " record " + ", ".join(dict.fromkeys(fields))

    def param(self, name: str, wanted: ParamType, untold: str | None, fail: Any) -> str:
        """A name of `user.config`, declared with its value, or where none is given with the most careful one."""
        if not _NAME.fullmatch(name) or name in _MEANT:
            fail(f"`{name}` is no name of a param")
        known = self.params.get(name)
        if known is not None and (known.type != wanted or not (known.told or known.default == untold)):
            fail(
                f"`user.config.{name}` is compared in two ways, and has no value that is careful in both"
                if known.type == wanted
                else f"`user.config.{name}` is a {known.type} elsewhere, and a {wanted} here"
            )
        if known is None:
            told = name in self.config
            default = _default(self.config[name], wanted) if told else untold
            if default is None:
                fail(
                    f"the value of `user.config.{name}` is no {wanted}"
                    if told
                    else f"`user.config.{name}` needs a value: none is careful by itself"
                )
            assert default is not None
            self.params[name] = _Param(wanted, default, told)
        return name


def _default(value: object, wanted: ParamType) -> str | None:
    match value, wanted:
        case (bool(), _):
            return None
        case (int() | float(), "number"):
            return str(value)
        case (str(), "number"):
            return value if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", value) else None
        case (str(), "text"):
            return quote(value)
        case (str(), "set"):
            return _set([part.strip() for part in value.split(",") if part.strip()])
        case (list(), "set") if all(isinstance(each, str) for each in value):
            return _set(value)
        case _:
            return None


def _set(texts: Sequence[str]) -> str:
    return "{" + ", ".join(map(quote, texts)) + "}"


# --- expressions ---------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*"|'[^']*')
    |(?P<number>-?\d+(?:\.\d+)?(?![\w.]))
    |(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)
    |(?P<sign>==|!=|<=|>=|&&|\|\||[<>()\[\],!])
    )""",
    re.VERBOSE | re.ASCII,
)
_WORDS = {"and": "and", "&&": "and", "or": "or", "||": "or", "not": "not", "!": "not"}
_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "matches", "in", "contains")


_TIGHTEST = 2
_LEVELS = {"or": 0, "and": 1}


@dataclass(frozen=True)
class _Said:
    """A condition in the language. `level` is how tightly it binds; `kind` is set where it asks for one kind alone."""

    text: str
    level: int = _TIGHTEST
    kind: str = ""


def _joined(word: str, items: Sequence[_Said]) -> _Said:
    if len(items) == 1:
        return items[0]
    level = _LEVELS[word]
    return _Said(f" {word} ".join(_bracketed(item, level + 1) for item in items), level)


def _bracketed(said: _Said, level: int) -> str:
    return said.text if said.level >= level else f"({said.text})"


def _within(when: _Said, condition: _Said) -> _Said:
    """A condition of the calls that another speaks of: `kind(condition)` where that asks for one kind alone."""
    return _Said(f"{when.kind}({condition.text})") if when.kind else _joined("and", [when, condition])


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass
class _Expression:
    """A condition of the notation: comparisons, joined by `and`, `or`, `not` and brackets."""

    rule: _Rule
    node: yaml.Node
    tokens: list[_Token] = field(default_factory=list)
    at: int = 0
    grows: bool = True
    depth: int = 0

    def said(self) -> _Said:
        """The condition in the language."""
        self.grows = self.rule.grows
        self.tokens = list(self._scanned(self.rule.reader.text(self.node)))
        found = self._or()
        if self.at < len(self.tokens):
            self._fail(f"`{self.tokens[self.at].text}` is not expected here")
        return found

    def _scanned(self, text: str) -> Iterator[_Token]:
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                self.rule.reader.fail(
                    f"`{text[at]}` belongs to no condition", self.rule.reader.inside(self.node, at, at + 1)
                )
            kind = str(found.lastgroup)
            yield _Token(kind, found[kind], found.start(kind), found.end())
            at = found.end()

    def _or(self) -> _Said:
        items = [self._and()]
        while self._word("or"):
            items.append(self._and())
        return _joined("or", items)

    def _and(self) -> _Said:
        items = [self._unary()]
        while self._word("and"):
            items.append(self._unary())
        return _joined("and", items)

    def _unary(self) -> _Said:
        self.depth += 1
        if self.depth > _MAX_NESTING:
            self._fail("conditions are nested too deeply")
        if self._word("not"):
            self.grows = not self.grows
            found = _Said(f"not {_bracketed(self._unary(), _TIGHTEST)}")
            self.grows = not self.grows
        elif self._sign("("):
            found = self._or()
            if not self._sign(")"):
                self._fail("`)` is missing")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> _Said:
        left = self._take("name", "a name such as `action.type`")
        operator = self._take("name" if self._next("name") else "sign", "a comparison")
        if operator.text not in _OPERATORS:
            self._fail(f"`{operator.text}` is no comparison: there are {_listed(_OPERATORS)}", operator)
        if left.text == "action.type":
            return self._type(operator)
        name = self._field(left)
        right = self.tokens[self.at] if self.at < len(self.tokens) else None
        if right is not None and right.kind == "name" and right.text not in ("true", "false"):
            self.at += 1
            return _Said(self._with_config(name, operator, right))
        return _Said(self._with_value(name, operator))

    def _type(self, operator: _Token) -> _Said:
        if operator.text not in ("==", "!=", "in"):
            self._fail("`action.type` is compared with `==`, `!=` or `in`", operator)
        tokens = self._list() if operator.text == "in" else [self._take("string", "a type in quotes")]
        negated = operator.text == "!="
        kinds = [self._kind(token, more=self.grows != negated) for token in tokens]
        text = f"{'not ' if negated else ''}action in {{{', '.join(dict.fromkeys(kinds))}}}"
        return _Said(text, kind=kinds[0] if len(set(kinds)) == 1 and not negated else "")

    def _kind(self, token: _Token, *, more: bool) -> str:
        """The kind of a type; one that has further calls only where the rule may match `more`."""
        text = _unquoted(token)
        kind, same = KINDS.get(text, (text, True))
        if kind not in vocabulary().kinds:
            near = nearest(text, [*KINDS, *vocabulary().kinds], 1)
            help_text = f"did you mean `{near[0]}`?" if near else "docs/vocabulary.md lists the kinds"
            self._fail(f"`{text}` is no type of action that is known", token, help_text)
        if not same and not more:
            message = f"`{text}` is not said exactly: `{kind}` has further calls, and the rule would be wrong of them"
            self._fail(message, token)
        self.rule.types.append(text)
        return kind

    def _field(self, token: _Token) -> str:
        text = token.text
        head, _, rest = text.partition(".")
        if text in _CONTEXT:
            return f"context.{_CONTEXT[text]}"
        if head == "action" and rest.startswith(("params.", "target.")):
            self.rule.asks.append(self.rule.reader.inside(self.node, token.start, token.end))
            return _argument(rest.partition(".")[2])
        if text in ("action.tool", "action.name"):
            self.rule.tools = True
            return "action"
        if head == "user" and rest and not rest.startswith("config") and _FIELD.fullmatch(rest):
            return f"context.user.{rest}"
        known = ["action.type", "action.params.", "action.target.", "action.tool", "user.", *_CONTEXT]
        near = nearest(text, known, 1)
        help_text = f"did you mean `{near[0]}`?" if near else "an action has `type`, `tool`, `params.…` and `target.…`"
        self._fail(f"`{text}` is nothing that a rule can ask", token, help_text)

    def _with_config(self, name: str, operator: _Token, right: _Token) -> str:
        if not right.text.startswith("user.config."):
            message = f"`{right.text}` is no value: texts stand in quotes, values of the user are `user.config.…`"
            self._fail(message, right)
        wanted: ParamType = "number"
        if operator.text in ("matches", "in"):
            wanted = "set"
        elif operator.text in ("==", "!=", "contains"):
            wanted = "text"
        untold = _UNTOLD.get((operator.text, self.grows))
        param = self.rule.param(
            right.text.removeprefix("user.config."), wanted, untold, lambda message: self._fail(message, right)
        )
        if name == "action" and wanted != "set":
            self._fail("`action.tool` is compared with a text or a set", operator)
        return f"{name} {_spelled(operator.text)} {param}"

    def _with_value(self, name: str, operator: _Token) -> str:
        if operator.text == "in":
            return f"{name} in {{{', '.join(_literal(token) for token in self._list())}}}"
        token = self._take("", "a value")
        is_text = token.kind == "string"
        if token.kind not in ("string", "number", "name") or (
            token.kind == "name" and operator.text not in ("==", "!=")
        ):
            self._fail(f"`{token.text}` is no value for `{operator.text}`", token)
        if operator.text in ("<", "<=", ">", ">=") and token.kind != "number":
            self._fail(f"`{operator.text}` compares with a number", token)
        if operator.text in ("matches", "contains") and not is_text:
            self._fail(f"`{operator.text}` takes a text in quotes", token)
        if operator.text == "matches":
            return f"{name} ~ {quote(_unquoted(token))}"
        if name == "action":
            if not is_text or operator.text not in ("==", "!="):
                self._fail("`action.tool` is compared with a text", operator)
            return f"{'not ' if operator.text == '!=' else ''}action in {{{quote(_unquoted(token))}}}"
        return f"{name} {_spelled(operator.text)} {_literal(token)}"

    def _list(self) -> list[_Token]:
        if not self._sign("["):
            self._fail("a list in brackets is expected")
        found = [self._take("", "a value")]
        while self._sign(","):
            found.append(self._take("", "a value"))
        if not self._sign("]"):
            self._fail("`]` is missing")
        for token in found:
            if token.kind not in ("string", "number"):
                self._fail(f"`{token.text}` is no value", token)
        return found

    # --- tokens ---

    def _next(self, kind: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].kind == kind

    def _word(self, word: str) -> bool:
        found = self.at < len(self.tokens) and _WORDS.get(self.tokens[self.at].text) == word
        found = found and self.tokens[self.at].kind != "string"
        self.at += found
        return found

    def _sign(self, sign: str) -> bool:
        found = self._next("sign") and self.tokens[self.at].text == sign
        self.at += found
        return found

    def _take(self, kind: str, what: str) -> _Token:
        if self.at >= len(self.tokens) or (kind and self.tokens[self.at].kind != kind):
            found = f", found `{self.tokens[self.at].text}`" if self.at < len(self.tokens) else ""
            self._fail(f"{what} is expected{found}")
        self.at += 1
        return self.tokens[self.at - 1]

    def _fail(self, message: str, token: _Token | None = None, help_text: str | None = None) -> NoReturn:
        if token is None and self.at < len(self.tokens):
            token = self.tokens[self.at]
        end = len(str(self.node.value))
        start, end = (token.start, token.end) if token else (end, end)
        self.rule.reader.fail(message, self.rule.reader.inside(self.node, start, end), help_text)


def _spelled(operator: str) -> str:
    return {"==": "=", "matches": "~"}.get(operator, operator)


def _unquoted(token: _Token) -> str:
    inner = token.text[1:-1]
    return re.sub(r"\\(.)", r"\1", inner) if token.text[0] == '"' else inner


def _argument(name: str) -> str:
    """An argument by the name of its role, in quotes where the bare name would mean something else."""
    role = ROLES.get(name, name)
    return quote(role) if role in _MEANT else role


def _literal(token: _Token) -> str:
    return quote(_unquoted(token)) if token.kind == "string" else token.text


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
