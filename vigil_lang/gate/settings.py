"""What a gate is set to: `gate.toml` in its state folder."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from pathlib import Path

Seconds: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=10 * 365 * 86400)]
PublicKey: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^ed25519:[A-Za-z0-9_-]{43}\Z")]
"""`ed25519:` and the 32 bytes of the key in base64url without padding."""
Origin: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"^(https://[^/?#\s]+|http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?)\Z")
]
"""Where a service is reached: an https address without a path, or one of this machine."""


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


class Desktop(_Table, frozen=True):
    """A command that shows a notification: its arguments have `{title}`, `{text}`, `{markup}` and `{link}`."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class Slack(_Table, frozen=True):
    """An incoming webhook of Slack: `address` is the path of a file with its address, which is a secret."""

    address: str


class Mail(_Table, frozen=True):
    """E-mail: the command that sends what it reads on standard input to those in its headers (`sendmail -i -t`)."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    sender: str = msgspec.field(name="from")
    to: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=20)]


class Notify(_Table, frozen=True):
    """Who is told of a hold: a command, which reads it as JSON on standard input; a webhook, whose body is signed with
    the key in the file `secret`, or with each of several while one takes the place of another; and templates of it."""

    command: tuple[str, ...] = ()
    webhook: str | None = None
    secret: str | Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=4)] | None = None
    desktop: Desktop | None = None
    slack: Slack | None = None
    mail: Mail | None = None


class LogSettings(_Table, frozen=True):
    """`power` has every entry on disk before an answer; `process` leaves that to the operating system. A checkpoint is
    made every `checkpoint_entries` and `checkpoint_seconds`."""

    durability: Literal["power", "process"] = "power"
    checkpoint_entries: Annotated[int, msgspec.Meta(ge=1)] = 1000
    checkpoint_seconds: Seconds = 3600


class RevocationSettings(_Table, frozen=True):
    """Whose signature a revocation list has to have."""

    keys: tuple[PublicKey, ...] = ()


class Oidc(_Table, frozen=True):
    """The identity provider that people sign in with, and which of its groups have which role. `client_secret` is the
    path of a file."""

    issuer: str
    client_id: str
    client_secret: str
    groups_claim: str = "groups"
    viewer: tuple[str, ...] = ()
    approver: tuple[str, ...] = ()
    administrator: tuple[str, ...] = ()


class ServiceSettings(_Table, frozen=True):
    """The gate as a service (docs/service.md).

    `origin` is where people reach the page, `data_origin` where agents reach decisions; on loopback both are made of
    the ports. A decision that is not made `deadline` seconds after it was asked for is a block; `queue` requests wait
    at most. `agents` has the keys of agents that act without a chain. With `accept_policies` a run may bring policies
    of its own, which lower nothing. People of `organisation_role` confirm what the organisation holds. A person is
    signed out after `session`, or `idle` without a request.
    """

    origin: Origin | None = None
    data_origin: Origin | None = None
    deadline: Annotated[float, msgspec.Meta(gt=0, le=60)] = 2.0
    queue: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1000
    agents: dict[str, PublicKey] = {}
    accept_policies: bool = True
    organisation_role: Literal["approver", "administrator"] = "approver"
    session: Seconds = 12 * 3600
    idle: Seconds = 3600
    oidc: Oidc | None = None


class StorageSettings(_Table, frozen=True):
    """Where the log lies: in the state folder, or for several nodes in a PostgreSQL database, named as libpq does."""

    postgres: str | None = None


class Remote(_Table, frozen=True):
    """The gate that decides in the place of this one: its data address, the agent's key and its chain (paths), and the
    certificates that its address is checked by, where the system's are not to do that."""

    url: str
    key: str | None = None
    chain: str | None = None
    ca: str | None = None


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
    service: ServiceSettings = ServiceSettings()
    storage: StorageSettings = StorageSettings()
    remote: Remote | None = None
    params: dict[str, str | int | float | bool | list[str]] = {}
    context: dict[str, dict[str, str | int | bool | list[str]]] = {}
    """By agent, the `context.user.` fields."""


def read_settings(path: Path) -> Settings:
    """The settings in a file.

    Raises:
        StateError: it cannot be read, is no TOML, or has a member that is unknown or of the wrong type.
    """
    try:
        return _settings(read_bytes(path))
    except OSError as error:
        raise StateError(f"the settings {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise StateError(f"the settings {path} are not valid: {error}") from error


@lru_cache(maxsize=4)
def _settings(text: bytes) -> Settings:
    return msgspec.convert(tomllib.loads(text.decode()), Settings)
