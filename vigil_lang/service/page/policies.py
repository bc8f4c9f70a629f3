"""The policies in force, by layer, and what the last change of them was."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from starlette.routing import Route

from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import shown_path
from vigil_lang.gate.state import StateError
from vigil_lang.service.errors import Refused
from vigil_lang.service.page.rendering import page
from vigil_lang.service.page.viewing import viewed, whole

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.service.service import Service

_LAYERS = ("organisation", "default", "personal")
_LINES = 300
"""Lines of a difference, or of a policy's text, that a page has."""

_WIDTH = 300


class Asked(NamedTuple):
    """A rule or statement: what it asks for, and that in words."""

    name: str
    what: str
    asks: str
    doc: str


class InForce(NamedTuple):
    """A policy: `at` tells it from the others in its address."""

    at: int
    path: str
    name: str
    doc: str
    asked: tuple[Asked, ...]


class Changed(NamedTuple):
    """The last change: which entry noted it and when, and the lines that differ, by file.

    `missing` says why they are not known.
    """

    seq: int
    at: str
    lines: tuple[tuple[str, str], ...]
    more: int
    missing: str | None = None


class PolicyPages:
    """The pages of policies."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._gate = service.gate

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/policies", viewed(self._service, "viewer", self.listed), methods=["GET"]),
            Route("/policies/{at}", viewed(self._service, "viewer", self.text), methods=["GET"]),
        ]

    async def listed(self, request: Request) -> Response:
        """The policies by layer, and the last change."""
        policies = self._gate.policies
        layers = {
            layer: [_in_force(at, each) for at, (of, each) in enumerate(policies.policies) if of == layer]
            for layer in _LAYERS
        }
        changed = await self._service.run(self._changed)
        return page(
            request, "policies.html", title="Policies in force", layers=layers, digest=policies.digest, changed=changed,
            mode=self._gate.settings.authority.mode,
        )  # fmt: skip

    async def text(self, request: Request) -> Response:
        """The text of one."""
        texts = self._gate.policies.texts
        at = whole(request.path_params["at"], 0, len(texts) - 1)
        part = whole(request.query_params.get("part", "1"), 1, 1_000_000)
        lines = [] if at is None else texts[at].text.split("\n")
        of = max(1, -(-len(lines) // _LINES))
        if at is None or part is None or part > of:
            raise Refused(404, "unknown", "there is no such policy")
        first = (part - 1) * _LINES
        numbered = list(enumerate(lines[first : first + _LINES], first + 1))
        title = shown_path(texts[at].path)
        return page(request, "policy.html", title=title, layer=texts[at].layer, lines=numbered, part=part, of=of, at=at)

    def _changed(self) -> Changed | None:
        gate = self._gate
        with gate.holds.transaction():
            noted = gate.store.page(None, 2, kind="policy")
            if len(noted) < 2:
                return None
            (seq, now), (_, before) = noted
            try:
                told = _difference(gate.policies_of(before["policy_digest"]), gate.policies_of(now["policy_digest"]))
            except StateError as error:
                return Changed(seq, now["at"], (), 0, str(error))
        return Changed(seq, now["at"], tuple(told[:_LINES]), max(0, len(told) - _LINES))


def _in_force(at: int, policy: Policy) -> InForce:
    rules = [Asked(each.name, "rule", each.then, _doc(each.metadata.doc)) for each in policy.rules]
    statements = [
        Asked(each.name, "statement", each.metadata.on_violation, _doc(each.metadata.doc)) for each in policy.statements
    ]
    return InForce(at, shown_path(policy.path), policy.name, "", (*rules, *statements))


def _doc(text: str | None) -> str:
    return " ".join((text or "").split())


def _difference(before: LayeredPolicies, now: LayeredPolicies) -> list[tuple[str, str]]:
    """The lines that differ: each as what it is (`file`, `at`, `ins`, `del`, `same`) and its text."""
    old = {(each.layer, each.path): each for each in before.texts}
    new = {(each.layer, each.path): each for each in now.texts}
    found: list[tuple[str, str]] = []
    for key in dict.fromkeys((*new, *old)):
        was, is_now = old.get(key), new.get(key)
        word = "removed" if is_now is None else "added" if was is None else "changed"
        lines = list(
            unified_diff(
                was.text.split("\n") if was else [], is_now.text.split("\n") if is_now else [], n=2, lineterm=""
            )
        )[2:]
        given = was is not None and is_now is not None and was.params != is_now.params
        if lines or given:
            found.append(("file", f"{shown_path(key[1])} ({key[0]}): {word}"))
        if given and was is not None and is_now is not None:
            found.append(("at", f"params: {was.params} → {is_now.params}"))
        signs = {"+": "ins", "-": "del", "@": "at"}
        found += [(signs.get(line[:1], "same"), cut(line, _WIDTH)) for line in lines]
    return found
