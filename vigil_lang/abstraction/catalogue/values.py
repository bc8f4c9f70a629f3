"""What single words stand for: local paths, addresses, machines, names that look like files."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from vigil_lang.abstraction.paths import resolve
from vigil_lang.patterns import regex
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.abstraction.step import Word

_URL = regex(r"[A-Za-z][A-Za-z0-9+.-]*://")
# A capital letter before a colon is a drive, unless a user is named.
_REMOTE = regex(r"(?:([^\s@/:]+)@(?=[\w.\[])|(?=[\w.-]{2}|\[|[a-z]:(?!\\)))(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(?!//)")
_PLAIN = ("/", "./", "../", "~/", "$HOME/", "${HOME}/")
_EXTENSION = regex(r"[^\s/]\.[A-Za-z0-9]{1,5}\Z")
_NUMBER = regex(r"v?[0-9.]+\Z")
_LONGEST = 1000
# `name`, `name[extra]`, `@scope/name`, `host/module`; then `==2.1`, `>=1,<2`, `@4`, `=7.1`.
_ALIAS = regex(r"(?:@[\w.-]+/)?[\w.-]+@npm:")
_VENDORED = regex(r"([\w.-]+/[\w.-]+):(?=[\^~<>=*\d]|dev-)")
_PACKAGE = regex(r"(@?[A-Za-z0-9][\w./+-]*)(?:\[[\w., -]*\])?\s*(?:(?:={1,3}|@)\s*(?=[^\s=@])|(?=[<>!~^]=?\s*\d))")
_EXTRAS = regex(r"([A-Za-z0-9][\w.-]*)\[[\w., -]*\]\Z")
_AT_VERSION = regex(r"((?:@[\w.-]+/)?[A-Za-z][\w.-]*)(?:@|==)([\w.^~*-]+)\Z")
_SOURCE_FILES = frozenset(
    [
        ".md", ".txt", ".rst", ".py", ".ipynb", ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".vue", ".css", ".scss",
        ".html", ".htm", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".xml", ".csv", ".sql", ".sh",
        ".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".go", ".java", ".kt", ".rb", ".php", ".lock", ".svg", ".png", ".jpg",
        ".jpeg", ".pdf", ".env",
    ]
)  # fmt: skip
"""Extensions that no branch and no tag has."""
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*://"
_USER = r"(?:[^/?#\\]*@)?"
_HOST = regex(
    _SCHEME + _USER + r"(?P<host>\[[^\]]*\]|[^/?#:\\%@\s]*)(?::[0-9]*)?(?=[/?#]|\Z)"
    r"|" + _USER + r"(?P<bare>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::[0-9]+)?(?=[/?#]|\Z)|(?P<here>:[0-9]*(?=[/?#]|\Z))"
)
"""The host of an address; of HTTPie's `:8000/path` it is this machine.

A backslash before the path ends the host for some programs, and for others is part of a user; some decode `%65`.
"""
_NOWHERE = regex(r"(?:about|blob|data|file|javascript|mailto|tel):|\Z", re.IGNORECASE)
"""What addresses of no machine begin with."""
_BEGINNING = regex(_SCHEME + r"(?:[\w.%:-]*@)?([A-Za-z0-9.-]+)(?::[0-9]+)?[/?#]")
_NOT_OPENED = regex(r"exclude|ignore|name|path(?!.*file)|not|prune|filter|format|regex|level|delim|separator")
_OPENED = regex(r"-(?:file|from)s?$")
_USED = regex(r"^-i$|identity|cert|key$")
"""Options whose value is a key that is used and not shown."""
_WRITTEN = regex(r"log|out(?!line)|dump|save|trace|jar|report|backup-dir|stderr|profile|record|warc|hsts|libcurl|store")
_ADDED = regex(r"(?:[\w.-]*:?=)?[@<]|[\w.-]+@(?=[.~/])|[\w.-]+=(?=[.~/])|fileb?://|[\d,+]+:")
"""What stands before the name of a file in a value that holds one: `@f`, `name=@f`, `name@f`, `name=f`."""
_DEVICES = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")
_LANGUAGES = {
    ".sh": "shell",
    ".bash": "shell",
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".rb": "ruby",
    ".pl": "perl",
}


def local(word: Word, cwd: str | None) -> str | None:
    """The path of a file on this machine, None where the directory is unknown."""
    text = word.text
    if text[:6] == "file:/":
        text = text[5:].lstrip("/")
        text = text if text[:1] == "~" else "/" + text
    if (word.quoted and text[:1] == "~") or text[:5] in ("$HOME", "${HOM"):
        text = "./" + text  # what is left of it after expansion means itself
    return resolve(text, cwd)


def plain_path(word: Word, cwd: str | None) -> str:
    """A value as it is, or resolved if it begins like a path."""
    if not word.text.startswith(_PLAIN):
        return word.text
    return local(word, cwd) or word.text


def is_url(text: str) -> bool:
    """Whether a text begins with a scheme other than that of a local file."""
    return _URL.match(text) is not None and text[:7] != "file://"


def elsewhere(text: str) -> tuple[str | None, str] | None:
    """User and machine of ``[user@]host:path``; None for a local path."""
    match = _REMOTE.match(text)
    return (match[1], match[2].strip("[]")) if match else None


def begins_local(text: str) -> bool:
    """Whether a text is a local path wherever an address or a name could stand too."""
    return text.startswith((*_PLAIN, "file:/")) or text in (".", "..", "~")


def no_revision(text: str) -> bool:
    """Whether a word cannot name a revision, so that git takes it for a path."""
    if text[:1] == "+" or text.startswith("refs/"):
        return False
    marked = begins_local(text) or text[:1] == "." or text[-1:] == "/" or "*" in text or ":(" in text
    return marked or (posixpath.splitext(text)[1].lower() in _SOURCE_FILES and not set(text) & set(":~^@"))


def versioned(text: str) -> tuple[str, str | None]:
    """The name of a package and the version it is asked for: ``x[y]==2.1``, ``x>=1``, ``x@4``, ``v/x:^1``."""
    if len(text) > _LONGEST or begins_local(text) or "://" in text or text[:1] == ".":
        return text, None
    if alias := _ALIAS.match(text):  # what is installed under another name
        text = text[alias.end() :]
    match = _PACKAGE.match(text) or _VENDORED.match(text)
    if match is None:
        extras = _EXTRAS.match(text)
        return (extras[1], None) if extras else (text, None)
    return match[1], text[match.end() :].partition(";")[0].strip() or None


def at_version(text: str) -> tuple[str, str | None]:
    """A program that a package runner is asked for as ``name@version`` or ``name==version``."""
    match = _AT_VERSION.match(text) if len(text) <= _LONGEST else None
    return (match[1], match[2]) if match else (text, None)


def is_device(path: str) -> bool:
    """Whether a path is one of those that store nothing."""
    return path.startswith(_DEVICES)


def is_directory(text: str) -> bool:
    """Whether a path says by itself that it is a directory."""
    return text[-1:] == "/" or posixpath.basename(text) in (".", "..", "~")


def below(directory: str, source: str) -> str:
    """Where a file or directory comes to lie when it is copied into a directory."""
    remote = _REMOTE.match(source)
    path = source[remote.end() :] if remote else source
    part = posixpath.basename(path.rstrip("/"))
    return directory if part in ("", ".", "..", "~") else posixpath.join(directory, part)


def last_of_url(url: str) -> str:
    """The last component of a URL's path, empty where it has none."""
    rest = _URL.sub("", url, count=1)
    path = re.split(r"[?#]", rest, maxsplit=1)[0].rstrip("/")
    _, slash, part = path.rpartition("/")
    return part if slash else path.rpartition(":")[2] if ":" in path else ""


def file_like(word: Word, cwd: str | None) -> str | None:
    """The path of a word that looks like a file: a slash in it, or an extension; None for others."""
    text = word.text
    if len(text) > _LONGEST or "\n" in text or text in ("-", "/", "//"):
        return None
    if "/" in text:
        if "://" in text or (" " in text and not text.startswith(_PLAIN) and not _EXTENSION.search(text)):
            return None
    elif not _EXTENSION.search(text) or _NUMBER.match(text):
        return None
    return local(word, cwd)


def opens_file(names: tuple[str, ...], text: str) -> bool:
    """Whether the value of an option of which no more is known is a secret to read, or likely a file to write."""
    last = names[-1]
    if _NOT_OPENED.search(last) and not _OPENED.search(last):
        return False
    if holds_secret(text):
        return _USED.search(last) is None
    return bool(_WRITTEN.search(last)) and text.startswith((*_PLAIN, "~")) and not is_device(text)


def holds_secret(text: str) -> bool:
    """Whether a word names a file, or a folder, of secrets, as it is or behind a sign that a file follows."""
    if len(text) > _LONGEST or text in ("/", "~", ".", ".."):
        return False
    match = _ADDED.match(text)
    name = text[match.end() :] if match else text
    if "{" in name:
        name = name.rpartition("{")[2].rpartition(",")[2].strip("}")
    for home in ("$HOME/", "${HOME}/"):
        name = "~/" + name.removeprefix(home) if name.startswith(home) else name
    where = name if name[:1] in ("/", "~") else "/" + name.removeprefix("./")
    return vocabulary().covers_secrets(where, below=name[:1] in ("/", "~"))


def uploaded(text: str, sign: str) -> str | None:
    """The file that a request's data is taken from: ``@file``, or of a form's field ``name=@file;type=…``."""
    if sign == "@":
        return text[1:] if text[:1] == "@" else None
    _, equals, value = text.partition("=")
    if not equals and "@" in text:  # `name@file`
        return text.rpartition("@")[2]
    return value[1:].partition(";")[0] if equals and value[:1] in ("@", "<") else None


def script_language(path: str) -> str | None:
    """The language of a script by its extension."""
    return _LANGUAGES.get(posixpath.splitext(path)[1])


def hosts_of(urls: Iterable[str], *, schemeless: bool) -> tuple[tuple[str, ...], bool]:
    """The machines of some addresses, each once, and whether all are known.

    `schemeless` says whether an address may begin with its host.
    """
    found: dict[str, None] = {}
    known = True
    for url in urls:
        match = _HOST.match(url) if schemeless or "://" in url else None
        if match and (host := match["host"] or match["bare"] or (match["here"] and "localhost")):
            found[machine(host)] = None
        else:
            known = known and (is_nowhere(url) or not (schemeless or "://" in url))
    return tuple(found), known


def is_nowhere(url: str) -> bool:
    """Whether an address is of no machine: `file:`, `data:`, `about:blank`."""
    return _NOWHERE.match(url) is not None


def host_of_beginning(text: str) -> str | None:
    """The machine of an address some of which is not known, and stands behind a `$`: `https://a.example/$PAGE`."""
    match = _BEGINNING.match(text)
    return match[1] if match else None


def machine(host: str) -> str:
    """The name of a machine, which case and dots at its end do not change."""
    return host.lower().rstrip(".")
