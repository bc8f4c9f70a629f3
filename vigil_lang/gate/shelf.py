"""The policies of runs: what each goes by from its beginning, kept under a digest, and what became of their files."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING

from vigil_lang.base.files import read_source
from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import InputError
from vigil_lang.gate.brought import admitted
from vigil_lang.gate.guarding import registration_params
from vigil_lang.gate.layers import LayeredPolicies, Member, layered, loaded, read_again
from vigil_lang.gate.state import StateError
from vigil_lang.semantics.modules import is_shipped, is_standard, standard_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.gate.brought import Brought
    from vigil_lang.gate.entering import Entering
    from vigil_lang.gate.layers import Origin
    from vigil_lang.gate.storage.storage import Storage

REGISTRATION = ("gate", "registration.vgl")
"""Where the policy that protects an enforcement point stands in the standard library."""

_MOST = 32
"""Sets of policies that are remembered."""


class Shelf:
    """The sets of policies of the runs of a state folder, by their digests. `settings` are those of the settings."""

    def __init__(self, storage: Storage, settings: LayeredPolicies, params: Mapping[str, object]) -> None:
        self.settings = settings
        self._storage = storage
        self._params = params
        self._known: OrderedDict[str, LayeredPolicies] = OrderedDict()

    def policies(self, digest: str) -> LayeredPolicies:
        """The policies of a digest, as this version understands them.

        Raises:
            StateError: they are not there, are damaged, or have no meaning to this version.
        """
        found = self._known.get(digest)
        if found is None:
            try:
                found = read_again(self._storage.bundle(digest))
            except (OSError, ValueError) as error:
                raise StateError(f"the policies {digest} of the run cannot be read: {error}") from error
            self.keep(found)
        self._remember(digest, found)
        return found

    def keep(self, policies: LayeredPolicies) -> None:
        """Keep policies beside the log.

        Raises:
            StateError: they cannot be written.
        """
        if policies.digest in self._known:
            return
        try:
            self._storage.keep_bundle(policies.digest, policies.bundle)
        except OSError as error:
            raise StateError(f"the policies {policies.digest} cannot be written: {error.strerror}") from error
        self._remember(policies.digest, policies)

    def _remember(self, digest: str, policies: LayeredPolicies) -> None:
        self._known[digest] = policies
        self._known.move_to_end(digest)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    # --- sets -----------------------------------------------------------------------------------------------------

    def entered(self, entering: Entering) -> LayeredPolicies:
        """What a run goes by that begins: the settings' policies, and those that its enforcement point names.

        Raises:
            StateError: one cannot be read, or something in it has no meaning.
        """
        members = list(self.settings.members)
        if entering.protected:
            given = {**self._params, **registration_params(entering.protected, str(self._storage.folder.path))}
            policy = loaded(str(resource("stdlib", *REGISTRATION)), given)
            members.append(Member("organisation", policy, "registration"))
        self._join(members, entering.policies, "registration")
        self._join(members, entering.workspace_policies, "workspace")
        self._admit(members, entering.brought)
        return layered(members)

    def joined(
        self, policies: LayeredPolicies, paths: Sequence[str], brought: Sequence[Brought] = ()
    ) -> LayeredPolicies | None:
        """Policies with those of a skill; None where they have them already. Raises as `entered`."""
        members = list(policies.members)
        self._join(members, paths, "skill")
        self._admit(members, brought)
        return layered(members) if len(members) > len(policies.members) else None

    def renewed(self, policies: LayeredPolicies, entering: Entering) -> LayeredPolicies:
        """What a run goes by whose policies are read again; what its skills brought stays. Raises as `entered`."""
        members = list(self.entered(entering).members)
        known = {each.policy.path for each in members}
        for each in policies.members:
            if each.origin in ("skill", "brought") and each.policy.path not in known:
                members.append(each)
                if each.origin == "skill" and read(each.policy.path) is not None:
                    members[-1] = Member(each.layer, loaded(each.policy.path, self._params), each.origin)
        return layered(members)

    def _admit(self, members: list[Member], brought: Sequence[Brought]) -> None:
        known = {each.policy.path for each in members}
        for policy in admitted(brought, self._params):
            if policy.path not in known:
                known.add(policy.path)
                members.append(Member("personal", policy, "brought"))

    def _join(self, members: list[Member], paths: Iterable[str], origin: Origin) -> None:
        known = {each.policy.path for each in members}
        for path in paths:
            place = str(standard_path(path)) if is_standard(path) else path
            if place not in known:
                known.add(place)
                members.append(Member("personal", loaded(path, self._params), origin))


def differing(policies: LayeredPolicies) -> dict[str, str | None]:
    """The files of policies that have another text now, each with its digest; None where a file cannot be read.

    Files of another machine are not looked for here.
    """
    found: dict[str, str | None] = {}
    for each in policies.texts:
        if each.origin == "brought":
            continue
        for path, text in ((each.path, each.text), *each.modules.items()):
            if not is_shipped(path) and (now := read(path)) != text:
                found[path] = None if now is None else sha256(now.encode()).hexdigest()
    return found


def read(path: str) -> str | None:
    """The text of a policy's file now, None where it cannot be read."""
    try:
        return read_source(path).text
    except InputError:
        return None
