"""What commands read from their standard input and write to their standard output, where that can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field

from vigil_lang.abstraction.paths import resolve
from vigil_lang.abstraction.step import Step, Word, effect
from vigil_lang.base.structs import Mutable
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.abstraction.call_steps import Taken
    from vigil_lang.abstraction.files import KnownFiles
    from vigil_lang.abstraction.shell import Command, Redirect

_KINDS = {
    "<": "file.read", ">": "file.write", ">|": "file.write", "&>": "file.write", ">&": "file.write", "<>": "file.edit",
    ">>": "file.append", "&>>": "file.append",
}  # fmt: skip
_AWAY = (">", ">>", ">|", "&>", "&>>")
_SOCKET = regex(r"/dev/(?:tcp|udp)/([^/]+)/([^/]+)")
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/", "/dev/stdin")
_MOST_FED = 100
_FED = Word("{}", known=False)
_ECHO_OPTIONS = ("-n", "-e", "-E", "-ne", "-en")


class Line(Mutable):
    """The commands of one line, as far as they have been taken: where each program's step is, and what it writes."""

    commands: Sequence[Command]
    places: list[int | None] = field(default_factory=list)
    printed: list[str | None] = field(default_factory=list)
    fetched: set[int] = field(default_factory=set)
    """The places of programs whose answers from other machines were seen to go into files."""

    def upstream(self, command: Command, taken: Taken) -> tuple[str, ...]:
        """The programs whose output a command reads, the nearest first; of a wrapper what it runs (`sudo env |`)."""
        at = command.piped_from
        if at is None or at >= len(self.places) or (place := self.places[at]) is None:
            return ()
        last = max(taken.programs_of(place))
        source = taken.steps[last]
        return tuple(dict.fromkeys((source.action, *source.roles.get("piped_from", ()))))

    def pipes_into(self, command: Command, program: str, taken: Taken) -> None:
        """Note with the program whose output a command reads where it goes."""
        at = command.piped_from
        place = self.places[at] if at is not None and at < len(self.places) else None
        for source in taken.programs_of(place) if place is not None else ():
            taken.steps[source].roles.setdefault("piped_to", (program,))

    def before(self, command: Command) -> tuple[int, ...]:
        """The places of the programs that certainly run before a command, which runs only if they all succeed."""
        places = [self.places[at] for at in command.after]
        grouped = any(not each.words for each in self.commands)  # its output may go into a file with that of others
        if not places or grouped or None in places or not self.commands[command.after[0]].certain:
            return ()
        return tuple(place for place in places if place is not None)

    def fetches(self, command: Command, place: int, taken: Taken) -> None:
        """Note with a program that asks another machine that the answer goes into a file: `curl -s URL | jq . > f`.

        It may come through programs that only transform it.
        """
        kept = _kept(command, taken.steps[max(taken.programs_of(place))])
        at: int | None = place
        while kept and at is not None:
            asks = next((n for n in taken.programs_of(at) if _asks(taken.steps[n])), None)
            if asks is not None:
                if asks in self.fetched or "target" not in taken.steps[asks].roles:  # `curl -o f URL` prints nothing
                    _into_file(taken.steps[asks], kept)
                    self.fetched.add(asks)
                return
            if not _PASSES_ON.issuperset(taken.steps[max(taken.programs_of(at))].kinds):
                return
            source = command.piped_from
            if source is None or source >= len(self.places):
                return
            command, at = self.commands[source], self.places[source]

    def feeds(self, command: Command, stdin: str | None, taken: Taken) -> tuple[Word, ...]:
        """The words that a command is fed on standard input: what is printed, or patterns of what `find` finds."""
        if stdin is not None:
            words = stdin.split()
            return (*map(Word, words[:_MOST_FED]), *((_FED,) if len(words) > _MOST_FED else ()))
        at = command.piped_from
        place = self.places[at] if at is not None and at < len(self.places) else None
        return found_by(taken.steps[place]) if place is not None else ()

    def sources(self, command: Command, taken: Taken) -> tuple[str | None, ...]:
        """The files that come to a command on standard input: its own redirection's, or what `cat` passes on.

        None stands for one that cannot be told.
        """
        inputs = [r for r in command.redirects if r.fd in (None, 0) and r.op[:1] == "<"]
        if inputs:
            last = inputs[-1]
            if last.op != "<" or last.target is None or _is_no_file(last.target):
                return ()
            return (resolve(last.target.text, command.cwd) if last.target.known else None,)
        at = command.piped_from
        place = self.places[at] if at is not None and at < len(self.places) else None
        if place is None or taken.steps[place].action != "cat":
            return ()
        source = taken.steps[place]
        return (*source.roles.get("path", ()), *([None] if "path" in source.unresolved else []))

    def stdin(self, command: Command, files: KnownFiles) -> str | None:
        """The text a command reads from standard input, where it is known."""
        for redirect in reversed(command.redirects):
            if redirect.op.startswith("<<"):
                if redirect.body is None or not redirect.body.known:
                    return None
                return redirect.body.text + ("\n" if redirect.op == "<<<" else "")
            if redirect.op == "<" and redirect.target is not None and redirect.target.known:
                path = resolve(redirect.target.text, command.cwd)
                return files.get(path) if path else None
        at = command.piped_from
        return self.printed[at] if at is not None and at < len(self.printed) else None


_PASSES_ON = frozenset({"process.run", "data.process", "file.write", "file.append", "privilege.raise"})


def _kept(command: Command, program: Step) -> tuple[str | None, ...]:
    """The files that a program's output goes to, or its input where it is `tee`; None for one that cannot be told."""
    targets = [r.target for r in command.redirects if r.op in _AWAY and r.fd in (None, 1) and r.target is not None]
    found = [resolve(t.text, command.cwd) if t.known else None for t in targets if not _is_no_file(t)]
    if program.action in ("tee", "sponge"):
        found += [*program.roles.get("path", ()), *([None] if "path" in program.unresolved else [])]
    return tuple(found)


def _asks(step: Step) -> bool:
    """Whether a program writes what another machine answers to its standard output."""
    asks = not {"net.request", "review.read", "browser.open"}.isdisjoint(step.kinds)
    by_address = "url" in step.roles or "url" in step.unresolved
    return asks and by_address and step.roles.get("method") != ("HEAD",)


def _into_file(step: Step, paths: tuple[str | None, ...]) -> None:
    step.kinds = tuple(dict.fromkeys((*step.kinds, "net.download")))
    known = tuple(path for path in paths if path is not None)
    if known:
        step.roles["target"] = tuple(dict.fromkeys((*step.roles.get("target", ()), *known)))
    if len(known) < len(paths):
        step.unresolved = tuple(dict.fromkeys((*step.unresolved, "target")))


def found_by(step: Step) -> tuple[Word, ...]:
    """Patterns for what `find` finds, as its starting points and names tell."""
    if step.action not in ("find", "gfind"):
        return ()
    names = (*step.roles.get("name", ()), *step.roles.get("iname", ()))
    found: list[str] = []
    for root in step.roles.get("path", ()):
        below = root.rstrip("/") + "/*"
        if not names and step.roles.get("type", ("d",)) == ("d",):
            found.append(root)
        found += [below + name.removeprefix("*") for name in names] or [below]
    return tuple(Word(text, glob="*" in text) for text in found)


def filled(words: Sequence[Word], fed: Sequence[Word]) -> tuple[Word, ...]:
    """A command's words with what it is fed in the place of ``{}``."""
    return tuple(each for word in words for each in (fed if fed and word == _FED else (word,)))


def printed(command: Command, stdin: str | None, files: KnownFiles) -> str | None:
    """What `echo`, `printf` and `cat` write to their standard output, where that can be told."""
    if not command.words or any(not word.known or word.glob for word in command.words):
        return None
    program, *rest = (word.text for word in command.words)
    match program.rpartition("/")[2]:
        case "echo":
            return _echoed(rest)
        case "printf" if len(rest) == 1 and "%" not in rest[0] and "\\" not in rest[0]:
            return rest[0]
        case "printf" if len(rest) == 2 and rest[0] in ("%s", "%s\\n"):
            return rest[1] + ("\n" if rest[0] != "%s" else "")
        case "cat" if all(word == "-" for word in rest):
            return stdin
        case "cat" if not any(word.startswith("-") for word in rest):
            texts = [files.get(path) if (path := resolve(word, command.cwd)) else None for word in rest]
            return None if None in texts else "".join(text for text in texts if text is not None)
    return None


def _echoed(words: Sequence[str]) -> str | None:
    newline = "\n"
    while words and words[0] in _ECHO_OPTIONS:
        if "e" in words[0]:
            return None
        newline = "" if "n" in words[0] else newline
        words = words[1:]
    return " ".join(words) + newline


def goes_away(command: Command) -> str | None:
    """The file its standard output goes to, as it is written where its path cannot be told."""
    for redirect in command.redirects:
        if redirect.op in _AWAY and redirect.fd in (None, 1) and redirect.target is not None:
            target = redirect.target
            return (resolve(target.text, command.cwd) if target.known else None) or target.text
    return None


def redirections(command: Command, text: str | None, *, reads: bool | None) -> Iterator[Step]:
    """A step for each file that a redirection reads (`reads`), or writes (`not reads`), or either (None).

    `text` is what the command prints, where that is known.
    """
    for redirect in command.redirects:
        kind = _KINDS.get(redirect.op)
        if kind is None or redirect.target is None or _is_no_file(redirect.target):
            continue
        if reads is not None and reads != (kind == "file.read"):
            continue
        if socket := _SOCKET.match(redirect.target.text):
            kinds = ("net.request",) if kind == "file.read" else ("net.upload",)
            host, port = socket.groups()
            yield Step(
                kinds[0], kinds, {"host": (host.lower(),), "port": (port,)}, prints=False, excerpt=_written(redirect)
            )
            continue
        path = resolve(redirect.target.text, command.cwd) if redirect.target.known else None
        step = effect(kind, (path,) if path else (), missing=path is None, excerpt=_written(redirect))
        step.content = text if redirect.op in _AWAY and redirect.fd in (None, 1) else None
        yield step


def _written(redirect: Redirect) -> str:
    return f"{redirect.op} {redirect.target.text}" if redirect.target is not None else redirect.op


def _is_no_file(target: Word) -> bool:
    text = target.text
    return text.startswith(_DEVICES) or text.lstrip("&").isdigit() or text in ("-", "&-")
