"""What a gate is set to: `gate.toml` in its state folder."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from pathlib import Path

Seconds: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=10 * 365 * 86400)]
PublicKey: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^ed25519:[A-Za-z0-9_-]{43}\Z")]
"""`ed25519:` and the 32 bytes of the key in base64url without padding."""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file: a member that is not known is an error, never passed over."""


class Layers(_Table, frozen=True):
    """The policies of each layer: absolute paths, and names of standard modules. `default` false leaves those out that
    ship with Vigil."""

    organisation: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()
    default: bool = True


class AuthoritySettings(_Table, frozen=True):
    """Whose word counts (`roots`), and the chain that an agent acts under (`chains`: agent → absolute path).

    With `presented`, an agent for which no chain is named acts under the one that its request names: only where nobody
    but the program that asks chooses that. Without its last links a chain is one that grants more.
    """

    mode: Literal["chain", "open"] = "chain"
    roots: tuple[PublicKey, ...] = ()
    chains: dict[str, str] = {}
    presented: bool = False


class HoldSettings(_Table, frozen=True):
    """Who may confirm, how many of them, and how long is waited.

    `escalate` names further approvers who are told after `escalate_after`. `asker_may_confirm` false keeps the key that
    the agent acts under from confirming. Where `most_pending` actions of an agent wait, its next one is
    blocked rather than held.
    """

    timeout: Seconds = 300
    approvers: tuple[PublicKey, ...] = ()
    organisation: tuple[PublicKey, ...] = ()
    quorum: Annotated[int, msgspec.Meta(ge=1, le=20)] = 1
    escalate: tuple[PublicKey, ...] = ()
    escalate_after: Seconds | None = None
    asker_may_confirm: bool = False
    max_uses: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    longest_release: Seconds = 3600
    most_pending: Annotated[int, msgspec.Meta(ge=1)] = 100


class Source(_Table, frozen=True):
    """A source of signals: the scores from which on it asks for tier 1, 2 and 3, how long one counts, and what its
    silence means. `required` makes a run without a fresh signal of it a doubt. A `command` is asked, `seconds` long."""

    thresholds: tuple[float, float, float] = (0.5, 0.75, 0.9)
    weight: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    window: Seconds = 600
    required: bool = False
    key: PublicKey | None = None
    command: tuple[str, ...] = ()
    seconds: Annotated[float, msgspec.Meta(gt=0, le=60)] = 2.0


class TierSettings(_Table, frozen=True):
    """How signals combine: the greatest tier of any source, or the weighted sum of their scores by `thresholds`."""

    combine: Literal["maximum", "sum"] = "maximum"
    thresholds: tuple[float, float, float] = (0.5, 0.75, 0.9)
    stale: Literal["hold", "ignore"] = "hold"
    sources: dict[str, Source] = {}


class Notify(_Table, frozen=True):
    """Who is told of a hold: a command, which reads it as JSON on standard input, and a webhook, whose body is signed
    with the key in the file `secret`."""

    command: tuple[str, ...] = ()
    webhook: str | None = None
    secret: str | None = None


class LogSettings(_Table, frozen=True):
    """`power` has every entry on disk before an answer; `process` leaves that to the operating system. A checkpoint is
    made every `checkpoint_entries` and `checkpoint_seconds`."""

    durability: Literal["power", "process"] = "power"
    checkpoint_entries: Annotated[int, msgspec.Meta(ge=1)] = 1000
    checkpoint_seconds: Seconds = 3600


class RevocationSettings(_Table, frozen=True):
    """Whose signature a revocation list has to have."""

    keys: tuple[PublicKey, ...] = ()


class Settings(_Table, frozen=True):
    """The whole file. `workspace` is where the agent works: the state folder never lies inside it. `timezone` is what
    `context.hour` and `context.weekday` go by; `params` are values of the policies' params."""

    workspace: str | None = None
    timezone: str = "UTC"
    layers: Layers = Layers()
    authority: AuthoritySettings = AuthoritySettings()
    holds: HoldSettings = HoldSettings()
    tier: TierSettings = TierSettings()
    notify: Notify = Notify()
    log: LogSettings = LogSettings()
    revocation: RevocationSettings = RevocationSettings()
    params: dict[str, str | int | float | bool | list[str]] = {}
    context: dict[str, dict[str, str | int | bool | list[str]]] = {}
    """By agent, the `context.user.` fields."""


def read_settings(path: Path) -> Settings:
    """The settings in a file.

    Raises:
        StateError: it cannot be read, is no TOML, or has a member that is unknown or of the wrong type.
    """
    try:
        return msgspec.convert(tomllib.loads(read_bytes(path).decode()), Settings)
    except OSError as error:
        raise StateError(f"the settings {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StateError(f"the settings {path} are not valid: {error}") from error
