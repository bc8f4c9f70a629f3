"""`vigil gate signal`: a detector's number about a run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.duration import Duration
from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.output import console, output_options

if TYPE_CHECKING:
    from vigil_lang.gate.settings import TierSettings


@click.command("signal")
@click.argument("run")
@click.option("--source", required=True, metavar="NAME", help="The source, which the settings have to register.")
@click.option("--score", required=True, type=float, metavar="NUMBER", help="From 0 (no suspicion) to 1 (an alarm).")
@click.option(
    "--for",
    "seconds",
    type=Duration(),
    metavar="DURATION",
    help="How long it counts: 10m; at most the window.",
)
@click.option("--key", metavar="FILE", help="The private key of a source that has to sign; by default VIGIL_KEY.")
@click.option("--state", metavar="DIR", help="The gate's state folder; by default VIGIL_STATE, else the user's own.")
@output_options("human", "json")
def signal(
    run: str,
    source: str,
    score: float,
    seconds: int | None,
    key: str | None,
    state: str | None,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Report a detector's score for RUN, from which the gate derives the run's tier.

    Exit status: 0 it is in the log; 2 it does not count, or the state folder cannot be used.
    """
    from vigil_lang.diagnostics.visible import safe_json
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.settings import read_settings
    from vigil_lang.gate.state import StateError, StateFolder, state_path
    from vigil_lang.gate.storage.opening import open_storage
    from vigil_lang.gate.store import Store
    from vigil_lang.gate.tier import combine
    from vigil_lang.gate.tier.signals import Refused

    try:
        folder = StateFolder(state_path(state))
        settings = read_settings(folder.settings).tier
        members = _members(settings, run, source, score, seconds, key)
        storage = open_storage(folder, read_settings(folder.settings))
        log = Log(storage, read_settings(folder.settings).log)
        store = Store(storage, log)
        with storage.lock():
            log.refresh()
            store.catch_up()
            known = any(each.name == run for each in store.runs())
            seq = log.append("signal", members)
            store.catch_up()
            level = combine(store.signals(run, log.at() // 1_000_000), settings, log.at() // 1_000_000).level
    except (StateError, Refused) as error:
        raise click.ClickException(str(error)) from error
    if format == "json":
        told = {"schema": "vigil.signal/1", **members, "seq": seq, "tier": level, "known": known}
        console().print(safe_json(told))
    else:
        beside = "" if known else "; no call of this run was decided yet"
        console().print(f"tier {level}{beside}")
    return CLEAN


def _members(
    settings: TierSettings, run: str, source: str, score: float, seconds: int | None, key: str | None
) -> dict[str, Any]:
    """What the log's entry says of a signal that is given now.

    Raises:
        Refused: it does not count.
        InputError: the key cannot be read.
    """
    from vigil_lang.gate.tier.signals import local_signal, signed_members, signed_payload

    at = int(time.time())
    registered = settings.sources.get(source)
    if registered is None or registered.key is None:
        return local_signal(settings, run, source, score, seconds, at).members()
    from vigil_lang.gate.authority.dsse import sealed
    from vigil_lang.gate.authority.keys import load_key
    from vigil_lang.gate.canonical import canonical
    from vigil_lang.gate.tier.signals import PAYLOAD_TYPE

    signer = load_key(key)
    payload = signed_payload(run, source, score, seconds or registered.window, at)
    return signed_members(settings, canonical(sealed(PAYLOAD_TYPE, payload, signer.public, signer.sign)), at)
