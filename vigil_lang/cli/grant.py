"""`vigil grant`: pass authority on, narrower than it was; show and check chains of grants."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

import click

from vigil_lang.cli.duration import Duration
from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.key import key_options
from vigil_lang.cli.options import complete
from vigil_lang.cli.output import output_options, show_errors, written
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.authority.chain import Chain, Link, Payload

_STANDS = frozenset({"format", "payload", "grant", "signature", "parent", "issuer", "depth"})
"""Kinds of problems that a chain has whoever looks at it, and whenever."""


@click.group("grant", invoke_without_command=True)
@click.option("--to", metavar="KEY", help="Who is given the grant: `ed25519:…`, or a file that holds a key.")
@click.option("--allow", metavar="CONDITION", help='What may be done, as `net.request(url ~ "https://example.com/*")`.')
@click.option(
    "--details", metavar="FILE", shell_complete=complete, help="What may be done, as RFC 9396 details in JSON."
)
@click.option(
    "--for", "duration", type=Duration(), metavar="DURATION", help="How long it counts, from now: 90s, 30m, 8h, 7d, 2w."
)
@click.option(
    "--from", "parent", metavar="CHAIN", shell_complete=complete, help="The chain that is narrowed; without it, a root."
)
@click.option(
    "--depth", type=click.IntRange(0, 7), default=0, show_default=True, help="How many more links may follow."
)
@click.option("--calls", type=click.IntRange(0), metavar="N", help="How many calls may pass under it; any number.")
@click.option("--per", type=click.Choice(["run", "hour", "day"]), help="In what time: a run unless you say so.")
@click.option("--aud", "audience", metavar="AUDIENCE", help="The gate it is for: the first part of its log.vkey.")
@key_options
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@click.pass_context
def command(
    ctx: click.Context,
    to: str | None,
    allow: str | None,
    details: str | None,
    duration: int | None,
    parent: str | None,
    depth: int,
    calls: int | None,
    per: str | None,
    audience: str | None,
    key_file: str | None,
    key_command: str | None,
    output: str,
) -> int:
    """Sign a grant and write the chain that ends with it.

    A chain allows what all of its grants allow, so a link can only narrow what the one before it allows.

    Exit status: 0 it is written, 2 it cannot be.
    """
    if ctx.invoked_subcommand is not None:
        return CLEAN
    if to is None or duration is None or (allow is None) == (details is None):
        raise click.UsageError("A grant needs --to, --for, and one of --allow and --details.")
    if per is not None and calls is None:
        raise click.UsageError("--per says in what time --calls may pass: give both.")
    from vigil_lang.gate.authority.chain import MAX_BYTES, MAX_LINKS, Limits
    from vigil_lang.gate.authority.grants import grant_condition
    from vigil_lang.gate.authority.issue import issue
    from vigil_lang.gate.authority.keys import load_key, read_public
    from vigil_lang.gate.canonical import MAX_INTEGER

    holder = read_public(to)
    grant = allow if allow is not None else _of_details(details or "")
    grant_condition(grant)
    key = load_key(key_file, command=key_command)
    now = int(time.time())
    data, chain = (None, None) if parent is None else _parent(parent, now)
    found: list[Diagnostic] = []
    if parent is not None and chain is not None:
        last = chain.links[-1].payload
        if key.public != chain.holder:
            _refuse(
                parent, "only its holder can narrow this chain, and another key would sign", f"that is {chain.holder}"
            )
        if depth >= last.depth:
            more = "no link" if last.depth == 0 else f"links of depth {last.depth - 1} at most"
            _refuse(parent, f"this chain lets {more} follow, not one of depth {depth}")
        if len(chain.links) >= MAX_LINKS:
            _refuse(parent, f"a chain has at most {MAX_LINKS} links")
        if audience not in (None, last.aud):
            _refuse(parent, "a chain is for one audience, and this one is for another", f"that is `{last.aud}`")
        audience = last.aud
    ends = now + duration
    if chain is not None and ends > (last_end := min(link.payload.exp for link in chain.links)):
        message = f"the chain ends before this grant does, at {_moment(last_end)}"
        found.append(Diagnostic.of("VGL642", message, Source(parent or "", "")))
    made = issue(
        key,
        holder,
        grant,
        audience=_audience(audience),
        begins=now,
        ends=ends,
        limits=Limits(MAX_INTEGER if calls is None else calls, ends, per or "run"),  # type: ignore[arg-type]
        depth=depth,
        parent=data,
    )
    if len(made) > MAX_BYTES:
        _refuse(parent or "<grant>", f"the chain would have more than {MAX_BYTES:,} bytes")
    found += _findings([*(chain.grants if chain else ()), grant])
    with written(output) as target:
        target.write(made.decode())
    show_errors(found)
    return CLEAN


@command.command("show")
@click.argument("chain_file", metavar="CHAIN", shell_complete=complete)
@output_options("human", "json")
def show(chain_file: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print what a chain says, link by link, without asking whose it is or whether it still counts.

    Exit status: 0, 1 where it would count for nobody, 2 it cannot be read.
    """
    from vigil_lang.gate.authority.chain import verify_chain

    data = _read(chain_file)
    links = verify_chain(data, (), "", 0).links
    chain = verify_chain(data, {link.payload.iss for link in links[:1]}, "", 0)
    problems = [each for each in chain.problems if each.kind in _STANDS]
    if format == "json":
        _print_json(chain, problems, [link.payload.grant for link in chain.links], ())
    else:
        for link in chain.links:
            _print_link(link)
        _print_problems(problems)
    return _status(chain, problems)


@command.command("check")
@click.argument("chain_file", metavar="CHAIN", shell_complete=complete)
@click.option(
    "--root", "roots", multiple=True, required=True, metavar="KEY", shell_complete=complete,
    help="Whose word counts: a file that holds a key, or `ed25519:…` (repeatable).",
)  # fmt: skip
@click.option("--aud", "audience", metavar="AUDIENCE", help="The gate that reads it: the first part of its log.vkey.")
@click.option("--at", "moment", metavar="TIME", help="When: POSIX seconds, or a time as 2026-01-05T10:00:00Z; now.")
@output_options("human", "json")
def check(
    chain_file: str,
    roots: Sequence[str],
    audience: str | None,
    moment: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Say whether a chain counts, and what it grants.

    Whether anything of it was revoked, and how many calls passed under it, is for the gate to say.

    Exit status: 0 it counts, 1 it does not, 2 it cannot be read.
    """
    from vigil_lang.gate.authority.chain import Problem, verify_chain

    at = int(time.time()) if moment is None else _at(moment)
    known = [read for each in roots for read in [_root(each)]]
    chain = verify_chain(_read(chain_file), known, _audience(audience), at)
    problems = list(chain.problems)
    for place, limits in enumerate(chain.limits):
        if at >= limits.until:
            problems.append(Problem(place, "until", f"it lets no call pass since {limits.until}"))
    found = [] if problems else _findings(chain.grants)
    if format == "json":
        _print_json(chain, problems, [] if problems else chain.grants, found)
    elif problems:
        _print_problems(problems)
    else:
        ends = min(min(link.payload.exp, link.payload.limits.until) for link in chain.links)
        click.echo(f"the chain counts until {_moment(ends)}, for {chain.holder}")
        for grant in chain.grants:
            click.echo(f"  {visible(grant)}")
        show_errors(found)
    return _status(chain, problems)


# --- what is given -------------------------------------------------------------------------------------------------


def _read(path: str) -> bytes:
    """The bytes of a chain's file, or of the first that are too many.

    Raises:
        InputError: VGL001.
    """
    from vigil_lang.base.files import read_bytes, unreadable
    from vigil_lang.gate.authority.chain import MAX_BYTES

    try:
        return read_bytes(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        raise InputError([unreadable(path, error)]) from None


def _parent(path: str, now: int) -> tuple[bytes, Chain]:
    """The chain to be narrowed, which has to count by itself now; whose it is, is for the gate to say."""
    from vigil_lang.gate.authority.chain import verify_chain

    data = _read(path)
    links = verify_chain(data, (), "", now).links
    first: Payload | None = links[0].payload if links else None
    chain = verify_chain(data, {first.iss} if first else (), first.aud if first else "", now)
    if chain.problems:
        shown = [(f"link {each.link}: " if each.link is not None else "") + each.message for each in chain.problems]
        raise InputError([Diagnostic.of("VGL641", message, Source(path, "")) for message in shown])
    return data, chain


def _of_details(path: str) -> str:
    from vigil_lang.gate.authority.details import grant_of_details

    return grant_of_details(_read(path), path)


def _root(given: str) -> str:
    from vigil_lang.gate.authority.keys import read_public

    return read_public(given)


def _audience(given: str | None) -> str:
    """The audience, or the origin of the log in the state folder.

    Raises:
        click.UsageError: neither is there.
    """
    if given is not None:
        if not 1 <= len(given) <= 256 or visible(given) != given:
            raise click.UsageError("--aud takes the origin of a log: a text of 1 to 256 characters that can be seen.")
        return given
    from vigil_lang.gate.state import state_path

    try:
        origin, _, rest = (state_path() / "log.vkey").read_text("utf-8").partition("+")
    except (OSError, ValueError):
        origin = rest = ""
    if not origin or not rest:
        raise click.UsageError("--aud says which gate it is for: the origin of its log. There is no log here.")
    return origin


def _at(text: str) -> int:
    if re.fullmatch(r"[0-9]{1,16}", text, re.ASCII):
        return int(text)
    try:
        found = datetime.fromisoformat(text)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise click.UsageError(f"--at takes POSIX seconds or an ISO 8601 time, not '{text}'.") from None


def _refuse(path: str, message: str, help_text: str | None = None) -> NoReturn:
    raise InputError([Diagnostic.of("VGL641", message, Source(path, ""), help=help_text)])


# --- what is said --------------------------------------------------------------------------------------------------


def _findings(grants: Sequence[str]) -> list[Diagnostic]:
    from vigil_lang.cli.grant_findings import grant_findings

    return grant_findings(grants)


def _status(chain: Chain, problems: Sequence[object]) -> int:
    if not problems:
        return CLEAN
    return FINDINGS if chain.links else BAD_INPUT


def _moment(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _print_link(link: Link) -> None:
    from vigil_lang.gate.canonical import MAX_INTEGER

    payload = link.payload
    limits = payload.limits
    calls = "any number of calls" if limits.calls == MAX_INTEGER else f"{limits.calls} calls a {limits.per}"
    click.echo(f"link {link.id}")
    for name, text in (
        ("from", payload.iss),
        ("to", payload.sub),
        ("for", payload.aud),
        ("allows", payload.grant),
        ("limits", f"{calls}, until {_moment(limits.until)}"),
        ("counts", f"{_moment(payload.nbf)} to {_moment(payload.exp)}"),
        ("depth", f"{payload.depth} more links may follow"),
    ):
        click.echo(f"  {name:<7} {visible(text)}")


def _print_problems(problems: Sequence[tuple[int | None, str, str]]) -> None:
    for link, kind, message in problems:
        click.echo(f"{'the chain' if link is None else f'link {link}'}: {kind}: {visible(message)}")


def _print_json(
    chain: Chain, problems: Sequence[tuple[int | None, str, str]], grants: Sequence[str], found: Sequence[Diagnostic]
) -> None:
    import msgspec

    from vigil_lang.diagnostics.render import to_json
    from vigil_lang.diagnostics.visible import safe_json

    click.echo(
        safe_json(
            {
                "schema": "vigil.grant/1",
                "problems": [{"link": link, "kind": kind, "message": message} for link, kind, message in problems],
                "grants": list(grants),
                "authority_digest": chain.digest,
                "holder": chain.holder,
                "links": [{"id": link.id, **msgspec.to_builtins(link.payload)} for link in chain.links],
                "findings": [to_json(each) for each in found],
            }
        )
    )
