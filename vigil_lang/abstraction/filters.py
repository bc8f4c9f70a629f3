"""Scripts of awk, sed, jq and Perl's one-liners: whether all they do is to transform the text they are given.

Each reading is conservative: what it cannot tell apart counts as something else. It looks for what runs commands, and
for what reads or writes files and variables that the command line does not name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 100_000
"""Characters; a longer script is not looked at."""


def only_transforms(language: str, text: str) -> bool:
    """Whether a script in one of `FILTERS` does nothing but transform its input."""
    return len(text) <= LONGEST and FILTERS[language](text)


# --- awk -------------------------------------------------------------------------------------------------------

# No name in awk can be put together while it runs, but for a call through a variable (`@f()`).
_AWK_SUSPECT = regex(r"system|getline|[|>@]|ENVIRON|ARGV|ARGC|FILENAME\s*=(?!=)|PROCINFO|load")
_AWK_TOKEN = regex(
    r"(?P<space>[ \t\r]+|\\\r?\n|#[^\n]*)|(?P<string>\"(?:[^\"\\\n]|\\.)*\")|(?P<end>[\n;{}])"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<sign>&&|\|\||>>|>=|<=|==|!=|!~|\+\+|--|[-+*%^/]=|\*\*=?|[-+*%^!<>~?:,$()\[\]=|@&/])",
    re.DOTALL,
)
_AWK_STANDARD = ('"/dev/stderr"', '"/dev/stdout"', '"/dev/null"')


def _awk(text: str) -> bool:
    if not _AWK_SUSPECT.search(text):
        return True
    at, depth = 0, 0
    before = ""
    printing: int | None = None
    while at < len(text):
        if text[at] == "/" and before == ")":
            return False  # a division, or a pattern behind a condition
        if text[at] == "/" and not _is_operand(before):
            end = _past_regex(text, at + 1)
            if any(text[at + 1 : end - 1].replace("\\/", "").count(each) for each in "/\n"):
                return False  # a slash in brackets ends it for some
            at, before = end, '""'
            continue
        match = _AWK_TOKEN.match(text, at)
        if match is None:
            return False
        at = match.end()
        token = match[0]
        kind = match.lastgroup
        if kind == "space":
            continue
        if kind == "end":
            depth, printing = (depth, None) if token != "\n" or not depth else (depth, printing)
        elif kind == "word":
            if _AWK_SUSPECT.search(token) and token != "FILENAME":
                return False
            if token in ("print", "printf"):
                printing = depth
        elif token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        elif token in ("|", "@") or (token == "=" and before == "FILENAME"):
            return False
        redirects = token in (">", ">>") and printing is not None and depth <= printing
        if redirects and not _to_terminal(text, at):
            return False
        before = token
    return True


def _past_regex(text: str, at: int) -> int:
    """The place behind a regular expression."""
    while at < len(text) and text[at] not in "/\n":
        at = at + 2 if text[at] == "\\" else _past_brackets(text, at) if text[at] == "[" else at + 1
    return at + 1


def _to_terminal(text: str, at: int) -> bool:
    """Whether a redirection goes to where the script's own output goes."""
    return re.compile(r"[ \t]*").sub("", text[at : at + 20], count=1).startswith(_AWK_STANDARD)


def _is_operand(token: str) -> bool:
    """Whether a slash behind this token divides."""
    if re.fullmatch(r"[A-Za-z_]\w*", token):
        return token not in ("return", "in", "print", "printf", "else", "do", "case", "exit", "delete", "not")
    return token[:1].isdigit() or token[:1] in ('"', ".", "]", "$") or token in ("++", "--")


# --- sed -------------------------------------------------------------------------------------------------------

_SED_ADDRESS = regex(r"\d+(?:~\d+)?|\$|[+~]\d+")
_SED_PLAIN = "=dDgGhHnNpPxzF{}"
_SED_FLAGS = regex(r"(?:[gpIiMm]|\d+)*")
_SED_LABEL = regex(r"[ \t]*[^\s;}]*")


class _Refused(Exception):
    """No sed runs such a script."""


def _sed(text: str) -> bool:
    """Brackets hide a delimiter from some seds and not from others: it is read in both ways."""
    readings: list[bool] = []
    for brackets in (True, False):
        try:
            if not _sed_reads(text, brackets):
                return False
            readings.append(True)
        except _Refused:
            continue
    return bool(readings)


def _sed_reads(text: str, brackets: bool) -> bool:
    at = 0
    while True:
        at = _past(text, at, " \t\n;}")
        if at == len(text):
            return True
        at = _past(text, _sed_address(text, at, brackets), " \t!")
        letter = text[at : at + 1]
        at += 1
        if letter and letter in _SED_PLAIN:
            continue
        if letter == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif letter and letter in "aic":
            at = _sed_text(text, at)
        elif letter and letter in ":btT":
            label = _SED_LABEL.match(text, at)
            at = label.end() if label else at
        elif letter and letter in "lqQL":
            at = _past(text, _past(text, at, " \t"), "0123456789")
        elif letter and letter in "sy":
            at = _sed_parts(text, at, 2, brackets)
            if letter == "s":
                flags = _SED_FLAGS.match(text, at)
                at = flags.end() if flags else at
                if text[at : at + 1] not in ("", " ", "\t", "\n", ";", "}", "#", "e", "w"):
                    raise _Refused
        else:
            return False
        at = _past(text, at, " \t")
        if text[at : at + 1] not in ("", ";", "\n", "}", "#"):
            return False


def _past(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _sed_address(text: str, at: int, brackets: bool) -> int:
    """The place behind the addresses of a command."""
    while at < len(text):
        number = _SED_ADDRESS.match(text, at)
        if number:
            at = number.end()
        elif text[at] == "/":
            at = _sed_parts(text, at, 1, brackets)
        elif text[at] == "\\":
            at = _sed_parts(text, at + 1, 1, brackets)
        else:
            return at
        at = _past(text, _past(text, at, "IM"), " \t")
        if text[at : at + 1] != ",":
            return at
        at = _past(text, at + 1, " \t")
    return at


def _sed_parts(text: str, at: int, count: int, brackets: bool) -> int:
    """The place behind so many texts between delimiters, the first of which stands here."""
    delimiter = text[at : at + 1]
    pattern = True
    at += 1
    while count:
        if at >= len(text) or delimiter in "\\\n" or text[at] == "\n":
            raise _Refused
        if text[at] == "\\":
            at += 2
        elif text[at] == "[" and brackets and pattern and delimiter != "[":
            at = _past_brackets(text, at)
        else:
            if text[at] == delimiter:
                count -= 1
                pattern = False
            at += 1
    return at


def _past_brackets(text: str, at: int) -> int:
    """The place behind a set of characters."""
    at += 2 if text[at + 1 : at + 2] == "^" else 1
    at += text[at : at + 1] == "]"
    while at < len(text) and text[at] != "]":
        kind = text[at + 1 : at + 2]
        if text[at] == "[" and kind and kind in ":.=":
            end = text.find(kind + "]", at + 2)
            at = len(text) if end < 0 else end + 2
        else:
            at += 1
    return at + 1


def _sed_text(text: str, at: int) -> int:
    """The place behind the text of `a`, `i` and `c`: it ends with a line that does not end with a backslash."""
    while at < len(text) and text[at] != "\n":
        at += 2 if text[at] == "\\" else 1
    return min(at, len(text))


# --- jq --------------------------------------------------------------------------------------------------------

_JQ_SUSPECT = regex(r"\benv\b|\$ENV|\$__prog|\bload\b|\bsystem\b|\bexec\b|\bstrenv\b|\benvsubst\b|\beval\b")
_JQ_LOADS = regex(r"\b(?:import|include|input_filename|get_search_list)\b")


def _jq(text: str) -> bool:
    return not _JQ_SUSPECT.search(text) and not _JQ_LOADS.search(text)


# --- perl ------------------------------------------------------------------------------------------------------

# What a text interpolates can be code: `@{[ … ]}`, `$h{…}`, `$a[…]`; so can parts of an expression: `(?{ … })`.
_PERL_SUSPECT = regex(r"[`@]|\$\w*\s*[\[{]|->|\(\?\??\{")


def _perl_statement() -> str:
    """An expression for a statement that changes, prints or skips the line at hand."""
    changes: list[str] = []
    matches: list[str] = []
    for sign in "/|#!,~:%":
        body = rf"(?:[^\\\n{re.escape(sign)}]|\\.)*+{re.escape(sign)}"
        changes += [rf"s{sign}{body}{body}[gimsxnr]*+", rf"(?:tr|y){sign}{body}{body}[cdsr]*+"]
        matches.append(rf"{'m?' if sign == '/' else 'm'}{sign}{body}[imsxn]*+")
    match = f"!?\\s*+(?:{'|'.join(matches)})"
    line = r"\$\.\s*+[=<>!]=?\s*+\d++|\d++\s*+\.\.\s*+\d++|eof"
    return rf"(?:{'|'.join(changes)}|print|next|last|chomp)(?:\s*+(?:if|unless)\s*+(?:{match}|{line}))?"


_PERL_STATEMENT = _perl_statement()
_PERL = regex(rf"\s*+(?:(?:{_PERL_STATEMENT})?\s*+;\s*+)*(?:{_PERL_STATEMENT})?\s*+\Z")


def _perl(text: str) -> bool:
    return not _PERL_SUSPECT.search(text) and _PERL.match(text) is not None


# --- databases ------------------------------------------------------------------------------------------------

_SQL_SUSPECT = regex(
    r"(?im)\\|^[ \t]*\.|\bprogram\b|\bcopy\b|\b(?:system|shell|source|attach|eval|script|module|delimiter|pager|tee"
    r"|edit|load_extension|readfile|writefile|outfile|dumpfile|load_file|infile|xp_cmdshell|lo_(?:im|ex)port|pg_\w*file\w*"
    r"|pg_ls_\w+|plpython\w*|plperl\w*|language|vacuum\s+into|install|load|read_\w+|\w*_scan|export|import|query_table)\b"
    r"|\bfrom\s+'|\binto\s+'|\b(?:file|url|s3|executable|remote)\s*\("
    r"|^(?:config|module|slaveof|replicaof|save|bgsave|debug|migrate|shutdown|function|acl)$"
)


_SQL_LOOKS = regex(
    r"\s*(?:\\(?:d\w*\+?|l\+?|x|z|conninfo|timing|pset)|\.(?:tables|schema|indexes|indices|databases|mode|headers?|width|stats))"
    r"(?:[ \t]+[\w.*?]+)*\s*"
)
"""Commands of a database's shell that show what is there."""


_SQL_BEYOND = regex(
    r"(?i)\bcopy\b[^;]*\b(?:to|from)\b(?!\s+std(?:in|out)\b)|\binto\s+(?:outfile|dumpfile|')|\bfrom\s+'|\battach\b"
    r"|\b(?:load_file|load_extension|readfile|writefile|read_\w+|\w+_scan|file|url|s3|executable|remote)\s*\("
    r"|\b(?:infile|xp_cmdshell|lo_(?:im|ex)port|pg_(?:read|write|ls|stat)_\w+|plpython\w*|plperl\w*|plsh)\b"
    r"|\bvacuum\s[^;]*\binto\b|(?:^|;)\s*(?:install|load|export|import)\s"
)


def stays_inside(statement: str) -> bool:
    """Whether a statement that a program hands to a database touches nothing but the database: no file, no program."""
    return len(statement) <= LONGEST and not _SQL_BEYOND.search(statement) and not _calls_unknown(statement)


def _calls_unknown(text: str) -> bool:
    from vigil_lang.abstraction import sql

    return sql.calls_unknown(text)


def _sql(text: str) -> bool:
    return _SQL_LOOKS.fullmatch(text) is not None or not (_SQL_SUSPECT.search(text) or _calls_unknown(text))


FILTERS: dict[str, Callable[[str], bool]] = {"awk": _awk, "sed": _sed, "jq": _jq, "perl": _perl, "sql": _sql}
"""Languages for transforming text."""
