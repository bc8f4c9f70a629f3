"""What looks like a secret in a text, and what is shown in its place: one table, and one function that masks.

A mask hides no more than the secret. Nothing that a shell takes for more than a word fits into a shape (no space, no
`;`, `|`, `&`, `$`, quote or bracket): an agent cannot hide what it does behind something that looks like a secret.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from math import log2
from os import urandom
from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Shape(NamedTuple):
    """A form that secrets have.

    `signs` are texts in small letters one of which stands where `pattern` begins. The secret is what the pattern
    matches, or its group `inner` where a name or an address before it tells what it is. What its group `drawn`, or
    `inner`, finds must look drawn at random, with so many `bits` a character. `certainty` is how sure a detector may
    be, 0 where the form is too common to raise a tier.
    """

    kind: str
    signs: str
    pattern: str
    certainty: float = 0.9
    bits: float = 3.0
    """What is drawn at random has more, placeholders have less."""
    word: bool = False
    """The place alone tells that it is a secret, which may be any word."""

    def at(self, text: str, start: int) -> tuple[Found | None, int]:
        """The secret of this form that begins, or whose name begins, at a place of the text; and where to look on."""
        match = _compiled(self.pattern).match(text, start)
        if match is None:
            return None, start + 1
        groups = match.groupdict()
        name = "inner" if "inner" in groups else 0
        drawn = groups.get("inner", groups.get("drawn"))
        if self.word:
            told = not _is_placeholder(drawn or "")
        else:
            told = drawn is None or (_looks_random(drawn, self.bits) and (self.certainty > 0 or _is_no_word(drawn)))
        found = Found(*match.span(name), self, match.start(), match.end() + (_TELLS_AFTER if self.word else 1))
        return found if told else None, match.end()


class Found(NamedTuple):
    """A secret in a text by its place in code points, and where what tells that it is one begins and ends."""

    start: int
    end: int
    shape: Shape
    sign: int
    after: int


SHORTEST = 10
"""Code points that a text with a secret has at least."""

_TELLS_AFTER = 6
"""Code points behind a word within which something tells that it is a secret."""

_SHORT = 1000
"""Code points below which one expression for all signs is faster than a search for each."""

_FREE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"
# A line break as it is, as JSON writes it, and with what stands before lines that are numbered, quoted or compared.
_BREAK = r"(?:\s|\\+[nrt]|[0-9]{1,6}(?:→|\t|\\+t)|[+>|]|-(?!-))++"
_BASE64 = "[A-Za-z0-9+/=]"
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_BREAK}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [\w ,.:@+/-]{{0,100}})*+"
    rf"(?:(?:{_BREAK})?+{_BASE64}{{40,}}+)*+"
    rf"(?:(?:{_BREAK}{_BASE64}{{1,76}}+){{0,2}}{_BREAK}-----END [A-Z0-9 ]{{0,60}}-----)?+"
)
_VALUE = r"(?P<inner>(?![/.~])(?>[A-Za-z0-9+/=_.~!@#%^*-]{8,1000}))(?![\w(\[{:$])"
_PASSWORD = (
    "password passwd passphrase passwort kennwort contrasena contraseña motdepasse mot_de_passe senha palavra_passe "
    "wachtwoord parola_chiave haslo hasło lösenord salasana"
)
"""A password's name in English and in other languages; `pass` and `parola` alone are words of text."""
_KEYS = " ".join(
    f"{one}{between}{other}"
    for one, other in (
        *(("client", "secret"), ("secret", "key"), ("api", "key"), ("private", "key"), ("auth", "key")),
        *(("access", "token"), ("auth", "token"), ("refresh", "token")),
    )
    for between in ("_", "-", "")
)
"""Other names that tell that a value is a secret, whatever it looks like, if it stands in quotes or alone."""
_NAMES = (
    "secret token credential api_key api-key apikey access_key access-key accesskey secret_key secret-key private_key "
    "private-key auth_key auth-key authorization"
)
_IS = r"\\?[\"']?[ \t]{0,3}(?:=>?|:=?)[ \t]{0,3}\\?[\"']?"
_QUOTE = r"\\?[\"']?"
_ALONE = r"(?<![\w-])"
_WORDS = r"[^\n;|&]{0,200}?"
_A_COOKIE = rf"(?:[^\s=;]{{1,60}}=[^\s;]{{0,15}};[ \t]{{0,3}}){{0,10}}[^\s=;]{{1,60}}=(?=\S{{16}}){_VALUE}"
"""A cookie whose value is long, behind shorter ones."""
_FLAG = "(?<!-)--(?!no-)(?i:[a-z][a-z_-]{0,30}[_-])??"
_WORD = r"(?P<inner>(?![/.~])[A-Za-z0-9+/=_.~!@#%^*-]{1,1000}+)"
"""What a secret may be where its place tells that it is one."""
_Q = r"\\{0,3}[\"']"
_STOP = r"(?=[\s;&|\"'<>`]|\\+[nrt\"']|\Z)"
"""What ends a value that stands in no quotes; code goes on with a bracket, a comma or a dot."""
_ENDS = r"(?=[\s;&|\"'<>`)…]|\\+[nrt\"']|\Z)"
"""The same in a command, where a bracket is a shell's."""
_PROSE = (
    r"(?!(?i:value|option|flag|argument|parameter|instead|when|on|from|must|should|will|can|may|has|by|of|at|but|so|then|that"
    r"|which|this|it|without|via|using|set|also|only|was|are|a|an|be|does|takes|asks|reads)[.!]?(?![\w-]))"
)
"""A word that goes on with a sentence about an option."""
_BARE = rf"(?P<quote>{_Q})?{_WORD}(?(quote)(?={_Q})|{_ENDS})"
_LINE_END = r"(?=[ \t]{0,3}(?:[\r\n…]|\\+[nr]|\Z))"
_NO_NAME = r"(?![A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,10}(?:[^\w.]|\Z))"
"""A value in no quotes is none of a program's own names: `args.passwd`."""


def _any(words: str) -> str:
    return f"(?i:{words.replace(' ', '|')})"


SHAPES = (
    Shape("private key", "-----begin", _PRIVATE_KEY, 1.0),
    Shape("aws key", "akia asia", rf"{_FREE}(?:AKIA|ASIA)(?P<drawn>[0-9A-Z]{{16}}){_END}"),
    Shape("github token", "ghp_ gho_ ghs_ ghu_ ghr_", rf"{_FREE}gh[opsur]_(?P<drawn>[0-9A-Za-z]{{36,}}+)"),
    Shape("github token", "github_pat_", rf"{_FREE}github_pat_(?P<drawn>[0-9A-Za-z_]{{50,}}+)"),
    Shape("gitlab token", "glpat-", rf"{_FREE}glpat-(?P<drawn>[0-9A-Za-z_-]{{20,}}+)"),
    Shape("slack token", "xox", rf"{_FREE}xox[abeprs]-(?P<drawn>[0-9A-Za-z-]{{20,}}+)"),
    Shape("stripe key", "sk_live_ rk_live_", rf"{_FREE}[sr]k_live_(?P<drawn>[0-9A-Za-z]{{20,}}+)"),
    Shape("api key", "sk-", rf"{_FREE}sk-(?:ant-|proj-|live-)?(?P<drawn>[0-9A-Za-z_-]{{20,}}+)"),
    Shape("google key", "aiza", rf"{_FREE}AIza(?P<drawn>[0-9A-Za-z_-]{{35}}){_END}"),
    Shape("google token", "ya29.", rf"{_FREE}ya29\.(?P<drawn>[0-9A-Za-z_-]{{30,}}+)"),
    Shape("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", rf"{_FREE}do[opr]_v1_(?P<drawn>[0-9a-f]{{64}}){_END}"),
    Shape("npm token", "npm_", rf"{_FREE}npm_(?P<drawn>[0-9A-Za-z]{{36}}){_END}"),
    Shape("pypi token", "pypi-", rf"{_FREE}pypi-(?P<drawn>[0-9A-Za-z_-]{{50,}}+)"),
    Shape("hugging face token", "hf_", rf"{_FREE}hf_(?P<drawn>[0-9A-Za-z]{{30,}}+)"),
    Shape("sendgrid key", "sg.", rf"{_FREE}SG\.(?P<drawn>[\w-]{{16,64}}\.[\w-]{{16,64}})"),
    Shape("age key", "age-secret-key-1", rf"{_FREE}AGE-SECRET-KEY-1(?P<drawn>[0-9A-Z]{{58}}){_END}"),
    # It begins where a run of its letters begins: a text of nothing but beginnings takes no longer to search.
    Shape(
        "web token",
        "eyj",
        r"(?:(?<![\w.-])|(?<=\\[nrt]))eyJ[\w-]{10,}+\.eyJ(?P<drawn>[\w-]{10,}+\.[\w-]{20,}+)",
    ),
    Shape(
        "password",
        "://",
        r"://[^/\s:@\"']{0,100}:(?P<inner>[^/\s@\"'$<>{}();|&`\\]{8,200})@(?=[\w.-])",
        0.75,
        2.5,
    ),
    Shape("webhook", "hooks.slack.com/", r"hooks\.slack\.com/\w{5,20}/(?P<inner>[A-Za-z0-9/]{20,200})", 0),
    Shape("webhook", "discord", r"discord(?:app)?\.com/api/webhooks/\d{5,25}/(?P<inner>[\w-]{40,200})", 0),
    Shape("telegram token", "/bot", r"/bot(?P<inner>\d{6,12}:[\w-]{30,60})", 0),
    Shape(
        "azure key",
        "accountkey= sharedaccesskey=",
        r"(?i:accountkey|sharedaccesskey)=(?P<inner>[\w+/-]{20,200}={0,2})",
        0,
    ),
    Shape("cookie", "cookie:", rf"(?i:cookie):[ \t]{{0,3}}{_A_COOKIE}", 0),
    Shape("cookie", "-b --cookie", rf"{_ALONE}(?:-b|--cookie)[ =]?{_QUOTE}{_A_COOKIE}", 0),
    Shape("password", "-u --user", rf"{_ALONE}(?:-u|--user)[ =]?{_QUOTE}[^\s:\"'/]{{1,100}}:{_VALUE}", 0, 2.5),
    Shape("password", "sshpass", rf"sshpass[ \t]{{1,3}}-p[ \t]{{0,3}}{_QUOTE}{_VALUE}", 0, 2.5),
    Shape("password", "redis-cli", rf"redis-cli\b{_WORDS} (?:-a|--pass)[ =]{_QUOTE}{_VALUE}", 0, 2.5),
    Shape("password", "login", rf"login\b{_WORDS} (?:-p[ =]?|--password[ =]){_QUOTE}{_VALUE}", 0, 2.5),
    Shape("password", "mysql mariadb", rf"(?:mysql|mariadb)[a-z-]{{0,10}}\b{_WORDS} -p{_QUOTE}{_VALUE}", 0, 2.5),
    Shape("authorization", "bearer basic", rf"(?i:bearer|basic)[ \t]{{1,3}}(?=\S{{16}}){_VALUE}", 0),
    Shape("password", _PASSWORD, rf"{_any(_PASSWORD)}{_IS}{_VALUE}", 0, 2.5),
    Shape("password", "--", rf"{_FLAG}{_any(_PASSWORD)} {_VALUE}", 0, 2.5),
    Shape("secret", _NAMES, rf"{_any(_NAMES)}{_IS}(?=\S{{16}}){_VALUE}", 0),
    Shape("secret", "--", rf"{_FLAG}{_any(_NAMES)} (?=\S{{16}}){_VALUE}", 0),
    # `password="word"`, `"password": "word"`, `cfg["password"] = "word"`, `--password "word"`, `PASSWORD 'word'`
    Shape(
        "password",
        _PASSWORD,
        rf"{_any(_PASSWORD)}(?:(?:{_Q})?\]?[ \t]{{0,3}}(?:=>?|:=?)[ \t]{{0,3}}|[ \t]{{1,3}}){_Q}{_WORD}(?={_Q})",
        0,
        word=True,
    ),
    # `"api_key": "word"`
    Shape(
        "secret",
        _KEYS,
        rf"{_any(_KEYS)}(?:{_Q})?\]?[ \t]{{0,3}}(?:=>?|:=?)[ \t]{{0,3}}{_Q}{_WORD}(?={_Q})",
        0,
        word=True,
    ),
    # `PGPASSWORD=word psql`, `--password=word`, `?password=word`; in code no argument is in capitals: a bracket ends it
    Shape(
        "password",
        _PASSWORD,
        rf"{_any(_PASSWORD)}(?P<capitals>(?<=[A-Z]))?={_NO_NAME}{_WORD}(?:{_STOP}|(?(capitals)(?=\))|(?!)))",
        0,
        word=True,
    ),
    Shape("password", "_pwd= _pass=", rf"(?:_PWD|_PASS)={_WORD}{_ENDS}", 0, word=True),
    # `password = word2` at the end of a line: without a digit it may be a name of a program's own
    Shape(
        "password",
        _PASSWORD,
        rf"{_any(_PASSWORD)}[ \t]{{1,3}}=[ \t]{{1,3}}{_NO_NAME}"
        rf"(?=\S{{0,60}}?[A-Za-z])(?=\S{{0,60}}?\d){_WORD}{_LINE_END}",
        0,
        word=True,
    ),
    # `password: word` at the end of a line
    Shape("password", _PASSWORD, rf"{_any(_PASSWORD)}:[ \t]{{1,3}}{_NO_NAME}{_WORD}{_LINE_END}", 0, word=True),
    # `mysql -pword`: what stands together with the option is never a database, as in `mysql -p books`
    Shape(
        "password",
        "mysql mariadb",
        r"(?:mysql|mariadb)(?:dump|admin|import|check|show|slap|-[a-z-]{1,10})?[ \t]"
        rf"{_WORDS}(?<=[ \t])-p(?P<quote>{_Q})?{_WORD}(?(quote)(?={_Q})|{_ENDS})",
        0,
        word=True,
    ),
    # `zip -P word`, `mongosh -p word`, `sshpass -p word`: an option of its own that takes a password
    Shape("password", "zip sqlcmd", rf"(?:zip|sqlcmd)[ \t]{_WORDS}(?<=[ \t])-P[ \t]{{0,3}}{_BARE}", 0, word=True),
    Shape("password", "mongo", rf"mongo[a-z]{{0,10}}[ \t]{_WORDS}(?<=[ \t])-p[ \t]{{0,3}}{_BARE}", 0, word=True),
    Shape("password", "sshpass", rf"sshpass[ \t]{{1,3}}-p[ \t]{{0,3}}{_BARE}", 0, word=True),
    Shape("password", "-pass", rf"{_ALONE}-pass(?:in|out)?[ \t]{{1,3}}{_QUOTE}pass:{_WORD}{_ENDS}", 0, word=True),
    # `curl -u ann:word`, but not `docker run -u 1000:1000`
    Shape(
        "password",
        "curl",
        rf"curl[ \t]{_WORDS}(?<=[ \t])(?:-[uU]|--user|--proxy-user)[ =]?(?:{_Q})?[\w.@+-]{{1,100}}:{_BARE}",
        0,
        word=True,
    ),
    # `--password word`, where it does not go on with a sentence
    Shape("password", "--", rf"{_FLAG}{_any(_PASSWORD)} (?!-){_PROSE}{_WORD}{_ENDS}", 0, word=True),
    # `<password>word</password>`, `<key>password</key><string>word</string>`
    Shape(
        "password",
        _PASSWORD,
        rf"{_any(_PASSWORD)}(?:>|</key>(?:\s|\\+n){{0,20}}<string>){_WORD}(?=</)",
        0,
        word=True,
    ),
    # `name="password" value="word"`, `"name": "password", "value": "word"`, `name: password` and below `value: word`
    Shape(
        "password",
        _PASSWORD,
        rf"{_any(_PASSWORD)}(?:{_Q})?,?(?:\s|\\+n){{1,40}}+(?:{_Q})?value(?:{_Q})?[ \t]{{0,3}}[=:][ \t]{{0,3}}"
        rf"(?:{_Q})?{_WORD}(?:{_STOP}|(?=/))",
        0,
        word=True,
    ),
    Shape(
        "secret",
        _KEYS,
        rf"{_any(_KEYS)}(?:{_Q})?,?(?:\s|\\+n){{1,40}}+(?:{_Q})?value(?:{_Q})?[ \t]{{0,3}}[=:][ \t]{{0,3}}"
        rf"(?:{_Q})?{_WORD}(?:{_STOP}|(?=/))",
        0,
        word=True,
    ),
    Shape(
        "password",
        "type=",
        rf"type={_Q}password{_Q}[^<>\n]{{0,200}}?\bvalue={_Q}{_WORD}(?={_Q})",
        0,
        word=True,
    ),
    Shape(
        "password",
        "<input",
        rf"<input\b[^<>]{{0,200}}?\bvalue={_Q}{_WORD}{_Q}[^<>]{{0,200}}?\btype={_Q}password",
        0,
        word=True,
    ),
    Shape("password", "identified", rf"(?i:identified by)[ \t]{{1,3}}{_Q}{_WORD}(?={_Q})", 0, word=True),
    Shape("password", "://", r"://[^/\s:@\"']{1,99}:(?P<inner>[A-Za-z0-9+=_.~!#%^*-]{1,200})@(?=[\w.-])", 0, word=True),
)
"""What looks like a secret. Where two would overlap, the earlier shape counts."""

_BY_SIGN = tuple(sorted(((sign, shape) for shape in SHAPES for sign in shape.signs.split()), key=lambda one: one[0]))
_ORDER = {id(shape): at for at, shape in enumerate(SHAPES)}

_EXAMPLE = regex(
    r"EXAMPLE|XXXX|\*\*\*|<.*>|placeholder|changeme|password|your(?:[_-]|key|token|secret|api)", re.IGNORECASE
)
_PLACEHOLDER = regex(
    r"(?:str|string|text|bytes|bool|boolean|int|integer|number|any|object|null|nil|none|undefined|true|false|yes|no|required"
    r"|optional|unknown|hidden|redacted|masked|missing|empty|prompt|varchar|char|pass|passwd|pwd|pw|secret|file|env|stdin|token"
    r"|in|is|to|as|for|and|or|not|if|the|with|x+|#+|\*+|-+|=+|%[A-Za-z]|%\(?[A-Za-z_]+\)?s?)\Z",
    re.IGNORECASE,
)
"""What stands for a secret, or says of what type it is."""
_A_PASSWORD = regex(rf"(?:{_PASSWORD.replace(' ', '|')})\Z", re.IGNORECASE)
_TELLING = regex(
    rf"(?:{_PASSWORD.replace(' ', '|')}|client[_-]?secret|secret[_-]?key|api[_-]?key|private[_-]?key|auth[_-]?key"
    r"|(?:access|auth|refresh)[_-]?token)\Z",
    re.IGNORECASE,
)
"""The end of the name of an argument whose value is a secret, whatever it looks like."""
_ANY_WORD = regex(r"(?![/.~])[A-Za-z0-9+/=_.~!@#%^*-]{1,1000}\Z")
_DOTTED = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def may_have(text: str) -> bool:
    """Whether a text may have a secret in it, or written with escapes, have had one."""
    return _any_sign().search(text.lower()) is not None


@cache
def _any_sign() -> re.Pattern[str]:
    return re.compile("|".join(sorted({re.escape(sign) for sign, _ in _BY_SIGN})))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """An expression, when a text needs it: most never do."""
    return re.compile(pattern)


def find(text: str) -> tuple[Found, ...]:
    """The secrets of a text in order; they do not overlap. Time is linear in its length."""
    return () if len(text) < SHORTEST else _find_short(text) if len(text) < _SHORT else _find_long(text)


def _find_short(text: str) -> tuple[Found, ...]:
    return _find(text) if may_have(text) else ()


@lru_cache(maxsize=64)
def _find_long(text: str) -> tuple[Found, ...]:
    """A long text is shown piece by piece, and laid out in more than one way."""
    return _find(text)


def _find(text: str) -> tuple[Found, ...]:
    small = text.lower() if text.isascii() else text.replace("\u0130", "i").lower()  # the one that would grow
    found: list[Found] = []
    for sign, shape in _BY_SIGN:
        at = small.find(sign)
        while at >= 0:
            new, after = shape.at(text, at)
            found += [new] if new else []
            at = small.find(sign, after)
    return _apart(found)


def _apart(found: list[Found]) -> tuple[Found, ...]:
    """Those that do not overlap one of an earlier shape, in the order of the text."""
    kept: list[Found] = []
    for new in sorted(found, key=lambda each: (_ORDER[id(each.shape)], each.start)):
        at = bisect_left(kept, new.end, key=lambda each: each.start)
        if at == 0 or kept[at - 1].end <= new.start:
            kept.insert(at, new)
    return tuple(kept)


def _looks_random(text: str, bits: float) -> bool:
    if _EXAMPLE.search(text):
        return False
    counts = Counter(text).values()
    return -sum(count / len(text) * log2(count / len(text)) for count in counts) >= bits


def _is_placeholder(text: str) -> bool:
    return _EXAMPLE.search(text) is not None or _PLACEHOLDER.match(text) is not None


def _is_no_word(text: str) -> bool:
    """Whether a value after a name is none of a program's own names: it has letters and digits, and is not `a.b2`."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text)) and _DOTTED.fullmatch(text) is None


# --- what is shown in their place --------------------------------------------------------------------------


class Numbers:
    """The secrets of one output, in the order in which they are first shown: equal ones have the same tag.

    Only a digest of each is kept, under a key of this process.
    """

    def __init__(self, *, show: bool = False) -> None:
        self.show = show
        self._key = urandom(16)
        self._tags: dict[bytes, str] = {}
        self._words: set[bytes] = set()
        """Secrets that are words: they are masked where something tells that they are secrets, and as whole values."""

    def _digest(self, secret: str) -> bytes:
        from hashlib import blake2b  # late: most outputs have no secret

        return blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()

    def known(self, text: str, *, whole: bool = False) -> str | None:
        """The tag of a text that was a secret where more was told of it; a word only where it is a `whole` value."""
        if self.show or not self._tags or not (_SHORTEST_WHOLE if whole else 6) <= len(text) <= 1000:
            return None
        digest = self._digest(text)
        return None if digest in self._words and not whole else self._tags.get(digest)

    @property
    def used(self) -> bool:
        """Whether there is any."""
        return bool(self._tags)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._tags)

    def tag(self, secret: str, kind: str, *, word: bool = False) -> str:
        """`[secret 1: aws key]`; with `word` it may be a word that other texts have too."""
        digest = self._digest(secret)
        if len(self._tags) >= _MOST:  # a process that lives long
            self._tags.clear()
            self._words.clear()
        if not word or _is_no_word(secret):
            self._words.discard(digest)
        elif digest not in self._tags:
            self._words.add(digest)
        return self._tags.setdefault(digest, f"[secret {len(self._tags) + 1}: {kind}]")


_MOST = 100_000
_LONGEST_TOLD = 100_000
_SHORTEST_WHOLE = 4
"""Code points of a secret that is masked wherever it is a whole value; what is shorter is a value of much else."""
_TOLD = regex(rf"[A-Za-z0-9+/=_.~!@#%^*-]{{{_SHORTEST_WHOLE},1000}}")
TAG = regex(r"\[secret [0-9]{1,6}: [a-z ]{3,20}\]")
"""What stands in the place of a secret."""

_process = Numbers()
_output: ContextVar[Numbers | None] = ContextVar("output", default=None)


@contextmanager
def one_output(*, show: bool = False) -> Iterator[None]:
    """What is shown in this block is one output: its secrets are numbered from 1, or with `show` not masked."""
    token = _output.set(Numbers(show=show))
    try:
        yield
    finally:
        _output.reset(token)


def show_secrets() -> None:
    """Mask nothing from now on in this output."""
    (_output.get() or _process).show = True


def has_masked() -> bool:
    """Whether something was masked in this output so far."""
    return (_output.get() or _process).used


def tags(text: str) -> list[tuple[int, int, str]]:
    """The secrets of a text by their places, each with what is shown for it; none where secrets are shown."""
    numbers = _output.get() or _process
    if numbers.show:
        return []
    found = [
        (at, end, numbers.tag(text[at:end], shape.kind, word=shape.certainty < 0.9))
        for at, end, shape, *_ in find(text)
    ]
    return sorted([*found, *_told(text, numbers, found)]) if numbers.used and len(text) < _LONGEST_TOLD else found


def _told(text: str, numbers: Numbers, found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The words of a text that are secrets as more was told of them elsewhere, also behind `-p` or `name=`.

    What stands in backticks is a value as a whole: so sentences name it.
    """
    for each in _TOLD.finditer(text):
        word, start = each.group(), each.start()
        if any(at < each.end() and start < end for at, end, _ in found):
            continue
        begins = (0, 2 * (word[0] == "-"), word.find("=") + 1)
        ends = (len(word), len(word.rstrip(".!")))
        for low, high in dict.fromkeys((low, high) for low in begins for high in ends):
            whole = text[start - 1 : start] == "`" == text[each.end() : each.end() + 1] and high - low == len(word)
            tag = numbers.known(word[low:high], whole=whole)
            if tag is not None:
                yield start + low, start + high, tag
                break


def learn(args: Mapping[str, Sequence[str]]) -> None:
    """Take note of the secrets that the names of arguments tell, so that they are masked where they stand alone."""
    for name, values in args.items():
        if may_have(name) or (len(name) == 1 and may_have(f"-{name} ")) or any(map(may_have, values)):
            masked_words(name, values)


def masked(text: str) -> str:
    """The text with a tag in the place of each secret; masking it again changes nothing."""
    return masked_with(text, ())[0]


def masked_with(text: str, marks: Iterable[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The text masked, and ranges of it as ranges of what is shown; one that ends in a secret has its whole tag."""
    hidden = tags(text)
    if not hidden:
        known = (_output.get() or _process).known(text, whole=True)
        return (text, list(marks)) if known is None else (known, [(0, len(known)) for _ in marks])
    parts, at = [], 0
    for start, end, tag in hidden:
        parts += [text[at:start], tag]
        at = end
    moved = [(_moved(low, hidden, 0), _moved(high, hidden, 1)) for low, high in marks]
    return "".join([*parts, text[at:]]), moved


def _moved(place: int, hidden: list[tuple[int, int, str]], side: int) -> int:
    shift = 0
    for start, end, tag in hidden:
        if place >= end:
            shift += len(tag) - (end - start)
        elif place > start:
            return start + shift + side * len(tag)
    return place + shift


def hides(text: str) -> bool:
    """Whether something of a text would be masked."""
    return masked(text) != text


def masked_value(value: Any) -> Any:
    """A JSON value whose texts, names included, are masked, also by what is told of them only behind their place."""
    numbers = _output.get() or _process
    before = numbers.count
    found = _masked_under("", value)
    return found if numbers.count == before else _masked_under("", value)


def _masked_under(name: str, value: Any) -> Any:
    match value:
        case str():
            return masked_beside(name, value)
        case dict():
            return {
                masked(key) if isinstance(key, str) else key: _masked_under(key if isinstance(key, str) else "", each)
                for key, each in value.items()
            }
        case list() | tuple():
            return masked_words(name, value)
    return value


def masked_words(name: str, words: Sequence[Any]) -> list[Any]:
    """The values of an argument, masked also where its name, or the option before a word, tells that it is a secret."""
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) == len(words) and any(text.startswith("-") for text in texts):
        words = _masked_line(texts)
    found = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        flag = isinstance(before, str) and before.startswith("-") and isinstance(word, str)
        found.append(masked_beside(before, word) if flag else _masked_under(name, word))
    return found


def _masked_line(words: list[str]) -> list[str]:
    """The words of a command line, masked where the words before one tell that it is a secret: `mysql -pPASSWORD`."""
    hidden, start, found = tags(" ".join(words)), 0, []
    for word in words:
        end = start + len(word)
        for low, high, tag in reversed([each for each in hidden if start <= each[0] and each[1] <= end]):
            word = f"{word[: low - start]}{tag}{word[high - start :]}"
        found.append(word)
        start = end + 1
    return found


def masked_beside(name: str, value: str) -> str:
    """A value, masked also where the name that it has tells that it is a secret."""
    numbers = _output.get() or _process
    if numbers.show or len(value) > 1000 or (shown := masked(value)) != value:
        return masked(value)
    if _TELLING.search(name) and _ANY_WORD.match(value) and not _is_placeholder(value):
        return numbers.tag(value, "password" if _A_PASSWORD.search(name) else "secret", word=True)
    if len(value) < 8:
        return shown
    told = f"{name.lstrip('-')}="
    for found in find(told + value) if may_have(name) else ():
        if found.start == len(told) and found.end == len(told) + len(value):
            return numbers.tag(value, found.shape.kind)
    flag = f"-{name}" if len(name) == 1 else f"--{name}"  # the role or argument of an option: `user`, `u`
    if _TELLING.search(name) or not may_have(flag):  # a value of several words is no word
        return shown
    return masked(f"{flag} {value}").removeprefix(f"{flag} ")
