"""`vigil audit`: the log of the gate, for who has to answer for it."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from vigil_lang.base.files import real_path
from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.output import console, output_options, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.gate.log.derivation import Derivation
    from vigil_lang.gate.log.notes import Signer, VerifierKey
    from vigil_lang.gate.log.reading import LogCopy

_MOMENT = re.compile(r"\d{4}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?)?)?Z?")
_MODES = ("pass", "hold", "block")

state_option = click.option(
    "--state", metavar="DIR", help="The state folder; by default VIGIL_STATE, else the user's own."
)
output_option = click.option(
    "-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default."
)


@click.group("audit", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Read, check and export the log of the gate.

    Every verb reads a state folder, or a copy of one at any path, and only `witness` writes to it.
    """


@command.command("show")
@state_option
@click.option("--run", metavar="NAME", help="Only entries of this run.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only entries of this kind (repeatable).")
@click.option(
    "--mode", "modes", type=click.Choice(_MODES), multiple=True, help="Only decisions of this mode (repeatable)."
)
@click.option("--since", metavar="TIME", help="Only entries from a time on (UTC): 2026-11-23, 2026-11-23T04:30.")
@output_options("human", "json")
def show(
    state: str | None,
    run: str | None,
    kinds: tuple[str, ...],
    modes: tuple[str, ...],
    since: str | None,
    format: Literal["human", "json"],  # noqa: A002 - the option's name
) -> int:
    """Print the entries of the log.

    With --format json each is an object on a line of its own: `seq` is its number, `entry` what stands in the log.
    """
    if since is not None and not _MOMENT.fullmatch(since):
        raise click.UsageError(f"--since takes a time such as 2026-11-23T04:30, not '{since}'.")
    start = (since or "").replace(" ", "T").rstrip("Z")
    log = _log(state)

    def wanted() -> Iterator[tuple[int, dict[str, Any]]]:
        for seq, entry in log.entries():
            if (
                (run is None or entry.get("run") == run)
                and (not kinds or entry["kind"] in kinds)
                and (not modes or entry.get("mode") in modes)
                and entry["at"] >= start
            ):
                yield seq, entry

    with _readable():
        if format == "json":
            from vigil_lang.diagnostics.visible import safe_json

            for seq, entry in wanted():
                print(safe_json({"seq": seq, "entry": entry}))
        else:
            from vigil_lang.cli.audit_screen import print_entries

            print_entries(wanted(), console())
    return CLEAN


@command.command("verify")
@state_option
@click.option("--key", metavar="VKEY", help="The log's verifier key as you know it, or a file that holds it.")
@click.option("--witness", "witnesses", multiple=True, metavar="VKEY", help="A witness's verifier key (repeatable).")
@click.option(
    "--since", multiple=True, metavar="NOTE", help="A checkpoint that you kept: the log must have grown from it."
)
@output_options("human", "json")
def verify(
    state: str | None,
    key: str | None,
    witnesses: tuple[str, ...],
    since: tuple[str, ...],
    format: Literal["human", "json"],  # noqa: A002 - the option's name
) -> int:
    """Check that the log is what was signed, and that each decision follows from what was known.

    Without --key the folder itself says which key is the log's: whoever can write to the folder could have replaced
    both. Exit status: 0 nothing is wrong, 1 something is, 2 it cannot be judged.
    """
    from vigil_lang.gate.log.verifying import verify as verified

    log = _log(state)
    with _readable():
        audit = verified(
            log,
            key=None if key is None else _key(key),
            witnesses=[_key(each) for each in witnesses],
            since=[_small(each) for each in since],
            derivation=_derivation(log),
        )
    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json

        print(safe_json(audit.to_json()))
    else:
        from vigil_lang.cli.audit_screen import print_audit

        print_audit(audit, log.folder, console())
    return BAD_INPUT if audit.cannot_judge else FINDINGS if audit.problems else CLEAN


@command.command("prove")
@click.argument("seq", metavar="N", type=click.IntRange(0))
@state_option
@output_option
def prove(seq: int, state: str | None, output: str) -> int:
    """Write a proof that the log has entry N, by its newest checkpoint: a c2sp.org/tlog-proof.

    Whoever has the proof, the line of the entry and the log's key needs nothing else to check it.
    """
    from vigil_lang.gate.log import proofs

    with _readable(), written(output) as target:
        target.write(str(proofs.prove(_log(state), seq)))
    return CLEAN


@command.command("replay")
@state_option
@click.option("--run", metavar="NAME", help="Only this run.")
@output_options("human", "json")
def replay(state: str | None, run: str | None, format: Literal["human", "json"]) -> int:  # noqa: A002
    """Derive the decisions of each run again from what was recorded.

    Exit status: 0 all that could be derived are what was decided, 1 one is not, 2 the log cannot be read, or a decision
    cannot be derived although its inputs are there.
    """
    from vigil_lang.gate.log import replaying
    from vigil_lang.gate.recorded_runs import RecordedRuns

    log = _log(state)
    with _readable():
        follow = RecordedRuns(log.folder / "policies").follow
        runs = replaying.replay(log, _derivation(log), follow, run)
    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json

        print(safe_json({"schema": "vigil.audit_replay/1", "runs": [each.to_json() for each in runs]}))
    else:
        from vigil_lang.cli.audit_screen import print_replay

        print_replay(runs, console())
    if any(each.differing for each in runs):
        return FINDINGS
    return BAD_INPUT if any(each.not_derived for each in runs) else CLEAN


@command.command("witness")
@state_option
@click.option("--key", required=True, metavar="FILE", help="The witness's own private key, Ed25519 as PKCS#8 PEM.")
@click.option("--name", required=True, metavar="NAME", help="The witness's name, such as example.com/witness.")
@click.option(
    "--memory", required=True, metavar="FILE", help="Where the witness remembers what it saw; never in a state folder."
)
@click.option("--log", "log_key", metavar="VKEY", help="The log's verifier key, the first time it is seen.")
@click.option("-o", "--output", metavar="FILE", help="Write the cosigned checkpoint there, and not into the folder.")
@output_options("human", "json")
def witness(
    state: str | None,
    key: str,
    name: str,
    memory: str,
    log_key: str | None,
    output: str | None,
    format: Literal["human", "json"],  # noqa: A002 - the option's name
) -> int:
    """Cosign the newest checkpoint, if the log only grew since this witness saw it last.

    Exit status: 0 it is cosigned, 1 the log is not what it was, and nothing is, 2 something cannot be read.
    """
    import base64

    from vigil_lang.gate.log import proofs
    from vigil_lang.gate.state import StateFolder

    log = _log(state)
    place = Path(memory).absolute()
    if Path(real_path(place)).is_relative_to(real_path(log.folder)):
        raise click.UsageError("--memory lies in the state folder: whoever changes the log could change it too.")
    with _readable():
        signer = _signer(key, name)
        found = proofs.Witness(signer, place).cosign(log, int(time.time()), None if log_key is None else _key(log_key))
        if output is None:
            proofs.add_cosignature(StateFolder(log.folder), found)
    if output is not None:
        with written(output) as target:
            target.write(str(found.note))
    checkpoint = found.checkpoint
    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json

        told = {"schema": "vigil.witness/1", "origin": checkpoint.origin, "size": checkpoint.size}
        click.echo(safe_json({**told, "root": base64.b64encode(checkpoint.root).decode(), "vkey": str(signer.key)}))
    elif output != "-":
        click.echo(f"cosigned {checkpoint.size:,} entries of {checkpoint.origin}\nverifier key {signer.key}")
    return CLEAN


@command.command("export")
@state_option
@output_option
@output_options("ocsf", "otel")
def export(state: str | None, output: str, format: Literal["ocsf", "otel"]) -> int:  # noqa: A002
    """Write the log as events of OCSF (API Activity), or as OpenTelemetry logs: JSON, an object a line.

    Only what stands in the log in clear is written.
    """
    from vigil_lang.diagnostics.visible import safe_json
    from vigil_lang.gate.log import export as exporting

    log = _log(state)
    with _readable(), _streamed(output) as write:
        made = exporting.ocsf if format == "ocsf" else exporting.otel
        for each in made(log.entries(), log.key().name):
            write(f"{safe_json(each)}\n")
    return CLEAN


# --- what they share ------------------------------------------------------------------------------------------


def _log(state: str | None) -> LogCopy:
    from vigil_lang.gate.log.reading import LogCopy
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, state_path

    copy = LogCopy(state_path(state))
    with suppress(StateError, OSError):  # the settings are the gate's concern
        is_elsewhere = read_settings(copy.folder / "gate.toml").storage.postgres is not None
        if is_elsewhere and not (copy.folder / "log.jsonl").stat().st_size:
            raise click.ClickException("the log lies in a database: `vigil gate backup DIR` writes a copy to look at")
    return copy


def _derivation(log: LogCopy) -> Derivation:
    """What derives decisions again, with the policies that the folder keeps."""
    from vigil_lang.gate.authority.grants import grant_condition
    from vigil_lang.gate.layers import table_of
    from vigil_lang.gate.log.derivation import Derivation

    return Derivation(log.folder / "policies", table_of, grant_condition)


@contextmanager
def _readable() -> Iterator[None]:
    """What cannot be read, or is not what it was, ends the call with a message."""
    from vigil_lang.diagnostics.visible import visible
    from vigil_lang.gate.log.proofs import Inconsistent
    from vigil_lang.gate.log.reading import CannotRead
    from vigil_lang.gate.state import StateError

    try:
        yield
    except (CannotRead, StateError) as error:
        raise click.ClickException(visible(str(error))) from None
    except Inconsistent as error:
        click.echo(f"Refused: {visible(str(error))}", err=True)
        click.get_current_context().exit(FINDINGS)


def _key(text: str) -> VerifierKey:
    from vigil_lang.gate.log.proofs import any_key

    return any_key(text)


def _small(path: str) -> bytes:
    from vigil_lang.base.files import read_bytes
    from vigil_lang.gate.log.notes import MAX_NOTE
    from vigil_lang.gate.log.reading import CannotRead, reason

    try:
        return read_bytes(path, MAX_NOTE)
    except (OSError, ValueError) as error:
        raise CannotRead(f"{path} cannot be read: {reason(error)}") from None


def _signer(path: str, name: str) -> Signer:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    from vigil_lang.gate.log.notes import COSIGNATURE, NoteError, Signer
    from vigil_lang.gate.log.reading import CannotRead

    data = _small(path)
    try:
        private = load_pem_private_key(data, None)
        if not isinstance(private, Ed25519PrivateKey):
            raise ValueError("it is no Ed25519 key")
        return Signer(name, private, COSIGNATURE)
    except NoteError as error:
        raise CannotRead(str(error)) from None
    except (ValueError, TypeError):
        raise CannotRead(f"{path} holds no Ed25519 private key as PKCS#8 PEM") from None


@contextmanager
def _streamed(output: str) -> Iterator[Callable[[str], object]]:
    """What writes to an output piece by piece; a file takes its place when it is whole."""
    import sys

    if output == "-":
        yield sys.stdout.write
        return
    from vigil_lang.base.outputs import replacing

    with replacing(output) as stream:
        target: IO[bytes] = stream
        yield lambda text: target.write(text.encode())
