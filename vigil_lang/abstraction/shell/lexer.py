"""A text is cut into words, redirections and operators, with every substitution cut up in its place.

tree-sitter gets a skeleton to parse in which a word is only a word: what is in quotes, here-documents and
substitutions is not its concern, and cannot lead it astray.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.abstraction.shell.limits import MAX_NESTING, MAX_OPERATORS, Exceeded
from vigil_lang.abstraction.shell.tokens import (
    Arithmetic,
    Lexed,
    Literal,
    Parts,
    RedirectToken,
    WordToken,
    start_of,
)
from vigil_lang.abstraction.shell.words import WordLexer
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    import re

    from vigil_lang.abstraction.shell.limits import Budget

_BLANKS = regex(r"(?:[ \t]|\\\n)+")
_LINES = regex(r"(?:[ \t\n]|\\\n)+")
_COMMENT = regex(r"[^\n]*")
_REDIRECT = regex(r"(?:([0-9]{1,5})|\{[A-Za-z_][A-Za-z0-9_]*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||[<>](?!\())")
_OPERATOR = regex(r";;&|;;|;&|;|&&|\|\||\|&|\||&")
_COMPOUND = r"(?=\(|(?:\{|if|for|while|until|case|select|\[\[)\s)"
_TIME = regex(r"[ \t]+(?:-p[ \t]+)?" + _COMPOUND)
_COPROC = regex(r"[ \t]+(?:[A-Za-z_][A-Za-z0-9_]*[ \t]+)?" + _COMPOUND + r"|[ \t]+")
_TEST_OPERATOR = regex(r"&&|\|\||[<>()]")

_OPENING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{"})
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_HEADS = frozenset({"for", "select", "case", "function"})


def lex(text: str, budget: Budget, line: int = 1, depth: int = 0) -> Lexed:
    """Cut up a whole text.

    Raises:
        Exceeded: it is nested too deeply, or too much was read already.
    """
    budget.lex(len(text))
    return WordLexer(text, budget, line, _commands).commands(0, "", depth)


def lex_text(text: str, budget: Budget, line: int = 1, depth: int = 0) -> Parts:
    """The parts of a here-document whose delimiter is not quoted."""
    return WordLexer(text, budget, line, _commands).parts(0, "text", depth)[0]


def _commands(lexer: WordLexer, start: int, closer: str, depth: int) -> Lexed:
    return _Commands(lexer, Lexed(lexer.text, lexer.line, lexer.breaks, start), closer, depth).run()


class _Document(NamedTuple):
    """A here-document whose text is still to come."""

    start: int
    end: int
    op: str
    fd: int | None
    delimiter: str
    quoted: bool
    closed: int | None


class _Commands:
    """The structure of commands, as far as telling words from operators and keywords takes it."""

    def __init__(self, lexer: WordLexer, lexed: Lexed, closer: str, depth: int) -> None:
        self.lexer = lexer
        self.text = lexer.text
        self.lexed = lexed
        self.closer = closer
        self.depth = depth
        self.out: list[str] = []
        self.filled = lexed.start
        self.joins = False
        """Whether the next word belongs to the same command as what was written last."""
        self.structural = 0
        self.open = 0
        """Parentheses that are open."""
        self.begins = True
        """Whether a command may begin here, and so a keyword stand here."""
        self.head = ""
        """The last of `_HEADS`, as long as its own words go on; `words` says how many there were."""
        self.words = 0
        self.pattern = False
        """Whether a pattern of a `case` stands here."""
        self.closed: int | None = None
        """The position after a compound command that may be redirected."""
        self.pending: list[_Document] = []

    def put(self, position: int, text: str) -> None:
        """Write into the skeleton, blanks before it."""
        self.out.append(" " * (position - self.filled))
        self.out.append(text)
        self.filled = position + len(text)
        self.joins = False
        self.structural += 1
        if self.structural > MAX_OPERATORS:
            raise Exceeded(f"more than {MAX_OPERATORS:,} operators and keywords")

    def put_word(self, position: int, end: int) -> None:
        """Write a word into the skeleton. The words of a command become one: there is less to parse."""
        if self.joins:
            self.out.append("w" * (end - self.filled))
            self.filled = end
        else:
            self.put(position, "w" * (end - position))
            self.joins = True

    def run(self) -> Lexed:
        lexed = self.lexed
        pos = self.lexed.start
        if self.closer:
            pos = self.through(pos)
        else:
            try:
                pos = self.through(pos)
            except Exceeded as limit:
                pos = self.filled
                lexed.cut = True
                self.lexer.budget.tell(f"line {lexed.line_of(pos)}: {limit}: read only up to there")
        lexed.end = min(pos, len(self.text))
        self.put(lexed.end, "")
        lexed.skeleton = "".join(self.out)
        lexed.tokens.sort(key=start_of)
        for redirects in lexed.trailing.values():
            redirects.sort(key=start_of)
        return lexed

    def through(self, pos: int) -> int:
        """Go through to the end; its position."""
        text = self.text
        while pos < len(text):
            char = text[pos]
            blank = _BLANKS.match(text, pos)
            if blank:
                pos = blank.end()
            elif char == "\n":
                self.operator(pos, "\n")
                pos = self.documents(pos + 1)
            elif char == "#":
                pos = _COMMENT.match(text, pos).end()  # type: ignore[union-attr]  # it matches nothing, too
            elif redirect := _REDIRECT.match(text, pos):
                pos = self.redirect(redirect)
            elif char == ")":
                if self.closer and not self.open and not self.pattern:
                    break
                pos = self.parenthesis(pos)
            elif operator := _OPERATOR.match(text, pos):
                self.operator(pos, operator[0])
                pos = operator.end()
            elif char == "(":
                pos = self.opening(pos)
            else:
                pos = self.word(pos)
        self.documents(len(text))
        return pos

    def operator(self, pos: int, operator: str) -> None:
        plain = {";;&": ";; ", ";&": ";;", "|&": "| "}.get(operator, operator)
        self.put(pos, plain)
        if operator.startswith(";;") or operator == ";&":
            self.pattern = True
            self.head = ""
        elif self.pattern or (operator == "\n" and self.head == "case"):
            return
        elif not (operator == "\n" and self.head == "for" and self.words == 1):
            self.head = ""
        self.begins = True
        self.closed = None

    def parenthesis(self, pos: int) -> int:
        if self.pattern:
            self.put(pos, ")")
            self.pattern = False
            self.begins = True
        elif not self.open:
            self.lexer.budget.refuse(f"line {self.lexed.line_of(pos)}: `)` closes nothing")
        else:
            self.put(pos, ")")
            self.open -= 1
            self.begins = False
            self.closed = pos + 1
        return pos + 1

    def opening(self, pos: int) -> int:
        """An opening parenthesis: of a subshell, arithmetic, a function, or a pattern."""
        text = self.text
        loop = self.head == "for" and not self.words
        if (self.begins or loop) and text.startswith("(", pos + 1):
            arithmetic = self.lexer.arithmetic(pos + 2, self.depth)
            if arithmetic:
                inner, end = arithmetic
                if loop:
                    self.put(pos, "w in " + "w" * (end - pos - 5))
                    self.lexed.loops[pos] = inner
                    self.words = 2
                else:
                    self.put_word(pos, end)
                    self.token(WordToken(pos, end, (Arithmetic(text[pos:end], False, inner),)))
                self.begins = False
                self.closed = end if loop else None
                return end
        if self.pattern:
            return pos + 1
        blank = _BLANKS.match(text, pos + 1)
        close = blank.end() if blank else pos + 1
        if text.startswith(")", close):
            self.put(pos, "(")
            self.put(close, ")")
            self.begins = True
            self.head = ""
            return close + 1
        if self.begins and text.startswith("(", pos + 1) and pos > self.filled:
            # two in a row would be arithmetic: the first is moved away from the second
            self.put(pos - 1, "( ")
            if pos in self.lexed.negated:
                self.lexed.negated.add(pos - 1)
        else:
            self.put(pos, "(")
        self.open += 1
        if self.open + self.depth > MAX_NESTING:
            raise Exceeded(f"nested more than {MAX_NESTING} deep")
        self.begins = True
        self.head = ""
        self.closed = None
        return pos + 1

    def token(self, token: WordToken | RedirectToken) -> None:
        self.lexed.tokens.append(token)

    def word(self, pos: int) -> int:
        """A word or a keyword."""
        parts, end = self.lexer.parts(pos, "word", self.depth)
        end = max(end, pos + 1)
        text = self.text[pos:end]
        if self.keyword(pos, end, text):
            return end
        if text in ("time", "!", "coproc") and self.begins and not self.pattern:
            return self.prefix(pos, end, text)
        if text == "[[" and self.begins and not self.pattern:
            return self.test(pos)
        self.put_word(pos, end)
        self.joins = self.joins and self.head not in _HEADS
        self.token(WordToken(pos, end, parts))
        self.words += 1
        self.begins = False
        if self.head == "function" and self.words == 1:
            self.begins = True
            self.head = ""
        return end

    def keyword(self, pos: int, end: int, text: str) -> bool:
        if self.pattern:
            known = text == "esac"
        elif self.begins or self.closed is not None:
            known = text in _OPENING or text in _CLOSING or text in _HEADS
        else:
            known = False
        if self.head in ("for", "select") and text in ("in", "do"):
            known = known or self.words == 1
        elif self.head == "case" and text == "in" and self.words == 1:
            known = True
            self.pattern = True
            self.head = ""
        if not known:
            return False
        if self.closed is not None and not self.begins and pos > self.filled:
            self.put(self.filled, ";")
        self.put(pos, text)
        self.closed = None
        if text == "in":
            self.words += 1
            self.begins = False
        elif text in _CLOSING:
            self.pattern = False
            self.begins = False
            self.closed = end
            self.head = ""
        else:
            self.begins = text in _OPENING or text == "do"
            self.head = text if text in _HEADS else ""
            self.words = 0
        return True

    def prefix(self, pos: int, end: int, text: str) -> int:
        """`!`, `coproc` and a `time` before a compound command are taken out: the structure is the same without."""
        if text == "time":
            compound = _TIME.match(self.text, end)
            if compound:
                return compound.end()
            self.put_word(pos, end)
            self.token(WordToken(pos, end, (Literal(text, False, text),)))
            self.begins = False
            return end
        marks = self.lexed.negated if text == "!" else self.lexed.detached
        skipped = _COPROC.match(self.text, end) if text == "coproc" else _BLANKS.match(self.text, end)
        following = skipped.end() if skipped else end
        toggled = pos in marks
        marks.discard(pos)
        if not toggled:
            marks.add(following)
        return following

    def test(self, pos: int) -> int:
        """``[[ … ]]`` becomes words: it has rules of its own for what is an operator."""
        text = self.text
        start = pos
        while pos < len(text):
            blank = _LINES.match(text, pos)
            if blank:
                pos = blank.end()
                continue
            operator = _TEST_OPERATOR.match(text, pos)
            if operator:
                self.token(WordToken(pos, operator.end(), (Literal(operator[0], True, operator[0]),)))
                pos = operator.end()
                continue
            parts, end = self.lexer.parts(pos, "word", self.depth)
            if not parts:
                parts, end = (Literal(text[pos], True, text[pos]),), pos + 1
            self.token(WordToken(pos, end, parts))
            pos = end
            if text[end - 2 : end] == "]]" and len(parts) == 1 and parts[0].source == "]]":
                break
        else:
            self.lexer.unfinished("`[[`", start)
        self.put_word(start, pos)
        self.begins = False
        self.closed = pos
        return pos

    # -- redirections

    def redirect(self, match: re.Match[str]) -> int:
        text, op, start = self.text, match[2], match.start()
        fd = int(match[1]) if match[1] else None
        blank = _BLANKS.match(text, match.end())
        pos = blank.end() if blank else match.end()
        parts, end = self.lexer.parts(pos, "word", self.depth)
        if not parts:
            line = self.lexed.line_of(start)
            self.lexer.budget.refuse(f"line {line}: a redirection `{op}` has no target")
            return max(end, match.end())
        if self.closed is None:
            self.put_word(start, end)
        if op in ("<<", "<<-"):
            delimiter = "".join(part.text if isinstance(part, Literal) else part.source for part in parts)
            quoted = any(part.quoted for part in parts)
            self.pending.append(_Document(start, end, op, fd, delimiter, quoted, self.closed))
        else:
            self.place(RedirectToken(start, end, op, fd, parts), self.closed)
        return end

    def place(self, token: RedirectToken, closed: int | None) -> None:
        if closed is None:
            self.token(token)
        else:
            self.lexed.trailing.setdefault(closed, []).append(token)

    def documents(self, pos: int) -> int:
        """Read the here-documents that were announced; their text starts at a position. Returns where it ends."""
        for document in self.pending:
            lines: list[str] = []
            first = pos
            while pos < len(self.text):
                end = self.text.find("\n", pos)
                end = len(self.text) if end < 0 else end
                line = self.text[pos:end]
                if document.op == "<<-":
                    line = line.lstrip("\t")
                if line == document.delimiter:
                    pos = min(end + 1, len(self.text))
                    break
                if self.closer and line.startswith(document.delimiter) and line.rstrip() == document.delimiter + ")":
                    pos += self.text[pos:end].index(document.delimiter) + len(document.delimiter)
                    break
                lines.append(line + "\n")
                pos = end + 1
            body = "".join(lines)
            parts: Parts = (Literal(body, True, body),)
            if not document.quoted:
                line_number = self.lexed.line_of(first)
                parts = lex_text(body, self.lexer.budget, line_number, self.depth)
            self.place(RedirectToken(document.start, document.end, document.op, document.fd, parts), document.closed)
        self.pending = []
        return pos
