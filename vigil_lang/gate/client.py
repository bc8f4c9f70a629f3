"""A client of the gate as a service. Whatever goes wrong, a decision is a block that says why, and never a pass.

One event loop in a thread of its own sends everything, so that one deadline covers a question from its first byte to
the last one of its answer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import ssl
import threading
import time
from contextlib import suppress
from decimal import Decimal
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate import run_calls
from vigil_lang.gate.answer import Answer, faulty
from vigil_lang.gate.authority.chain import MAX_BYTES, verify_chain
from vigil_lang.gate.authority.proof import proof
from vigil_lang.gate.canonical import canonical
from vigil_lang.gate.holds import LONGEST_WAIT, HoldError
from vigil_lang.gate.run_calls import PATH, Decide, Decided, HoldNow, OfHold, answer_to, check_hold, request_json
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    import httpx

    from vigil_lang.gate.authority.keys import Key
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.store import Hold

TIMEOUT = 10.0
"""Seconds from a question to its whole answer."""

MAX_ANSWER = 4 << 20
"""Bytes of the longest answer."""

SESSIONS = "/v1/sessions"
_MAX_MESSAGE = 300
_RENEW = 60
"""Seconds before its end that a token is asked for anew."""

_A = TypeVar("_A", bound=msgspec.Struct)
_R = TypeVar("_R")


class ServiceError(StateError):
    """The service cannot be asked, or its answer is none: nothing is judged. The text says why, and has no secret.

    `status` is that of its answer, None where there was none; `code` is what the service calls it.
    """

    def __init__(self, why: str, status: int | None = None, code: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.code = code


class Token(msgspec.Struct, frozen=True):
    """What an agent is given for a proof, until `expires_at` (POSIX seconds)."""

    token: str
    expires_at: int

    def __repr__(self) -> str:
        return f"Token(expires_at={self.expires_at})"


class _About(msgspec.Struct, frozen=True):
    """What an agent has to know for a proof: for whom it is."""

    audience: str


class Evaluation(msgspec.Struct, frozen=True):
    """A decision of OpenID AuthZEN, with what the service says beside it."""

    decision: bool
    context: dict[str, Any] = {}


class _Evaluations(msgspec.Struct, frozen=True):
    evaluations: tuple[Evaluation, ...]


class _Error(msgspec.Struct, frozen=True):
    code: str = ""
    message: str = ""


class _Refusal(msgspec.Struct, frozen=True):
    error: _Error


class AsyncClient:
    """Asks a gate service at its data address, in one event loop. Tasks may share one.

    An agent proves who it is by its `key`, a private key or the path of one, and the `chain` that it acts under, a
    path; for each of its runs it is given a token. Or a `token` is given, or nothing where the service asks for none.
    `ca` is a file of the certificates that the address is checked by. An address without TLS is taken on this machine
    only.

    Raises:
        ValueError: the address is none, or not safe; a token and a key are given, or a chain without a key.
        InputError: the key cannot be read.
        StateError: the chain or the certificates cannot be read, or a package is missing.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        key: Key | Path | str | None = None,
        chain: Path | str | None = None,
        ca: Path | str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        if token is not None and key is not None:
            raise ValueError("a client of a gate service takes a token or the key of an agent, not both")
        if key is None and chain is not None:
            raise ValueError("a chain goes with the key of the agent that acts under it")
        if token is not None and not (token.isascii() and token.isprintable() and token):
            raise ValueError("the token has characters that no token has")
        self.url = _address(url)
        self._timeout = timeout
        self._ca = None if ca is None else str(ca)
        self._given = token
        self._key = _key(key)
        self._chain: tuple[list[Any], str] | None = None
        self._audience: str | None = None
        if chain is not None:
            self._chain, self._audience = _read(chain)
        self._tokens: dict[tuple[str, str], Token] = {}
        self._http: httpx.AsyncClient | None = None
        self._tls = _trusted(self._ca) if self.url.startswith("https:") else False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def forget(self) -> None:
        """Have no connection any more: those of before a fork are of another process."""
        self._http = None

    async def aclose(self) -> None:
        """Let go of the connections."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    # --- what programs ask ----------------------------------------------------------------------------------------

    async def decide(self, request: Request, *, begun: bool = False) -> Answer:
        """What becomes of an action. Nothing is raised: what cannot be judged blocks, and says why.

        With `begun`, a run that the service does not know blocks; otherwise it begins.
        """
        try:
            number = token_hex(16)
            body = Decide(request.run, request.agent, number, request_json(request), begun)
            return answer_to(request, number, await self.call("decide", body, Decided))
        except ServiceError as error:
            return faulty(error)
        except run_calls.Mismatch as error:
            return faulty(StateError(f"the answer of the gate service {self.url} counts for nothing: {error}"))
        except ValueError as error:
            return faulty(StateError(f"the gate service {self.url} cannot judge this: {error}"))
        except Exception as error:  # whatever it is, the action does not pass
            return faulty(StateError(f"the gate service cannot be asked: {type(error).__name__}"))

    async def hold(self, name: str, *, run: str, agent: str) -> Hold:
        """A hold of a run as it is now.

        Raises:
            HoldError: there is none in that run.
            ServiceError: the service cannot be asked.
        """
        return await self._held("hold", OfHold(run, agent, name))

    async def wait(self, name: str, seconds: float = LONGEST_WAIT, *, run: str, agent: str) -> Hold:
        """A hold when it waits no more, or after so many seconds, at most `LONGEST_WAIT`. Raises as `hold`."""
        seconds = max(0.0, min(seconds, LONGEST_WAIT))
        return await self._held("wait", OfHold(run, agent, name, round(seconds, 3)), more=seconds)

    async def cancel(self, name: str, why: str, *, run: str, agent: str) -> Hold:
        """Cancel a hold that waits: its action is not wanted any more. Raises as `hold`."""
        return await self._held("cancel", OfHold(run, agent, name, why=why[:4096]))

    async def evaluate(
        self,
        subject: Mapping[str, object],
        action: Mapping[str, object],
        resource: Mapping[str, object],
        context: Mapping[str, object] | None = None,
    ) -> Evaluation:
        """An evaluation of OpenID AuthZEN. Nothing is raised: where nothing can be judged, the decision is False and
        `context` has the `reason`.

        With a key, `context.run` and `subject.id` name the run and the agent that the token is for.
        """
        question = {"subject": subject, "action": action, "resource": resource, "context": context or {}}
        try:
            return await self._ask("/access/v1/evaluation", question, Evaluation, _whose(question))
        except Exception as error:
            return _denied(error)

    async def evaluations(
        self, items: Sequence[Mapping[str, object]], *, semantic: str = "execute_all", **shared: Mapping[str, object]
    ) -> list[Evaluation]:
        """Several evaluations at once; `shared` members (subject, action, resource, context) count where an item has
        none. Gives one for each item, as `evaluate`: items that a short circuit left out are denied."""
        question: dict[str, Any] = {**shared, "evaluations": list(items), "options": {"evaluations_semantic": semantic}}
        try:
            found = list(
                (await self._ask("/access/v1/evaluations", question, _Evaluations, _whose(question))).evaluations
            )
            if len(found) > len(items):
                raise ServiceError("it answered more evaluations than it was asked for")
        except Exception as error:
            return [_denied(error) for _ in items]
        return found + [Evaluation(False, {"reason": "it was not evaluated"}) for _ in items[len(found) :]]

    async def begin(self, run: str, agent: str) -> str | None:
        """A token for a run of an agent: where there is none that lasts, the service is asked for one. None without a
        key.

        Raises:
            ServiceError: it gives none.
        """
        if self._given is not None or self._key is None:
            return self._given
        known = self._tokens.get((run, agent))
        if known is None or known.expires_at - _RENEW <= time.time():
            known = await self._begun(run, agent)
            self._tokens[run, agent] = known
        return known.token

    # --- how ------------------------------------------------------------------------------------------------------

    async def call(self, verb: str, body: run_calls.Of, answer: type[_A], *, more: float = 0) -> _A:
        """Ask `POST /v1/runs/{verb}`; `more` seconds are given to it beside the usual.

        Raises:
            HoldError: it is about a hold that cannot be.
            ServiceError: there is no answer, or none of that form.
            ValueError: no such run began.
        """
        plain = msgspec.to_builtins(body, builtin_types=(Decimal,))
        return await self._ask(f"{PATH}{verb}", plain, answer, (body.run, body.agent), more)

    async def _held(self, verb: str, body: OfHold, more: float = 0) -> Hold:
        hold = (await self.call(verb, body, HoldNow, more=more)).hold
        try:
            check_hold(hold)
            if hold.id != body.hold or hold.opened["run"] != body.run:
                raise run_calls.Mismatch("it is about another hold")
        except run_calls.Mismatch as error:
            raise ServiceError(f"the answer of the gate service {self.url} counts for nothing: {error}") from None
        return hold

    async def _ask(self, path: str, question: object, answer: type[_A], whose: tuple[str, str], more: float = 0) -> _A:
        data = canonical(question)
        seconds = self._timeout + more
        try:
            async with asyncio.timeout(seconds):
                token = await self.begin(*whose)
                try:
                    found = await self._sent(path, data, token)
                except ServiceError as error:
                    if error.status != 401 or self._key is None:
                        raise
                    self._tokens.pop(whose, None)  # the service may have begun anew
                    found = await self._sent(path, data, await self.begin(*whose))
        except TimeoutError:
            raise ServiceError(f"the gate service {self.url} did not answer within {seconds:g} s") from None
        return self._decoded(found, answer)

    def known(self, run: str, agent: str) -> Token | None:
        """The token of a run, where there is one."""
        return self._tokens.get((run, agent))

    def remember(self, run: str, agent: str, token: Token) -> None:
        """Go on with the token that a run has."""
        self._tokens[run, agent] = token

    async def _begun(self, run: str, agent: str) -> Token:
        assert self._key is not None
        envelopes, leaf = (None, None) if self._chain is None else self._chain
        proved = proof(self._key, run, agent, await self._origin(), envelopes, leaf)
        found = self._decoded(await self._sent(SESSIONS, canonical(proved), None), Token)
        if not (found.token.isascii() and found.token.isprintable() and found.token):
            raise ServiceError(f"the gate service {self.url} gave a token that is none")
        return found

    async def _origin(self) -> str:
        """For whom a proof is: as the chain has it, or as the service says."""
        if self._audience is None:
            found = self._decoded(await self._sent(SESSIONS, b"", None, "GET"), _About)
            self._audience = found.audience
        return self._audience

    async def _sent(self, path: str, data: bytes, token: str | None, method: str = "POST") -> bytes:
        """The body of the answer, which is JSON. Nothing that httpx raises gets out: it holds the request."""
        import httpx

        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        socket = self.url.removeprefix("unix:")
        is_local = socket != self.url
        if self._http is None:
            transport = httpx.AsyncHTTPTransport(verify=self._tls, uds=socket if is_local else None, trust_env=False)
            self._http = httpx.AsyncClient(transport=transport, timeout=None, trust_env=False)
        why = ""
        try:
            async with self._http.stream(
                method, f"{'http://localhost' if is_local else self.url}{path}", content=data, headers=headers
            ) as answer:
                if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
                    raise ServiceError(f"the gate service {self.url} compressed its answer, unasked")
                found = bytearray()
                async for chunk in answer.aiter_raw():
                    found += chunk
                    if len(found) > MAX_ANSWER:
                        raise ServiceError(f"the gate service {self.url} answered more than {MAX_ANSWER:,} bytes")
                status, kind = answer.status_code, answer.headers.get("content-type", "")
        except httpx.ConnectError:
            why = "cannot be reached"
        except httpx.HTTPError as error:
            why = f"broke off ({type(error).__name__})"
        except (OSError, ValueError) as error:
            why = f"cannot be asked ({type(error).__name__})"
        if why:
            raise ServiceError(f"the gate service {self.url} {why}")
        is_json = kind.partition(";")[0].strip().lower() == "application/json"
        if status not in (200, 201):
            raise self._refused(status, bytes(found) if is_json else b"", token)
        if not is_json:
            raise ServiceError(f"the gate service {self.url} answered something that is no JSON", status)
        return bytes(found)

    def _decoded(self, data: bytes, form: type[_A]) -> _A:
        try:
            return msgspec.json.decode(data, type=form)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise ServiceError(f"the gate service {self.url} answered something that is no answer") from None

    def _refused(self, status: int, data: bytes, token: str | None) -> Exception:
        """What an answer of another status than 200 means."""
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            error = msgspec.json.decode(data, type=_Refusal).error
            said = self._without_secrets(error.message, token)[:_MAX_MESSAGE]
            if (status, error.code) == (404, "no_run"):
                return ValueError(said)
            if error.code == "hold" and status in (404, 409):
                return HoldError(said)
            return ServiceError(
                f"the gate service {self.url} refused the request ({status}): {said}", status, error.code
            )
        if 300 <= status < 400:
            return ServiceError(
                f"the gate service {self.url} answers that it is elsewhere, which is not followed", status
            )
        return ServiceError(f"the gate service {self.url} answered with the status {status}", status)

    def _without_secrets(self, text: str, token: str | None) -> str:
        """A text of the service, which may have our own words in it."""
        secrets = {token, self._given, *(each.token for each in self._tokens.values())}
        for secret in filter(None, secrets):
            text = text.replace(secret, "…")
        return visible(text)


class Client:
    """`AsyncClient` for programs without an event loop: same arguments, methods and errors. Threads may share one."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        key: Key | Path | str | None = None,
        chain: Path | str | None = None,
        ca: Path | str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._asking = AsyncClient(url, token=token, key=key, chain=chain, ca=ca, timeout=timeout)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0
        self._mutex = threading.Lock()

    def __repr__(self) -> str:
        return f"Client({self._asking.url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections, and of the thread."""
        with self._mutex:
            loop, self._loop = self._loop, None
        if loop is not None and self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._asking.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def decide(self, request: Request, *, begun: bool = False) -> Answer:
        """As `AsyncClient.decide`."""
        try:
            return self._done(self._asking.decide(request, begun=begun))
        except Exception as error:  # the thread cannot be had
            return faulty(StateError(f"the gate service cannot be asked: {type(error).__name__}"))

    def hold(self, name: str, *, run: str, agent: str) -> Hold:
        """As `AsyncClient.hold`."""
        return self._done(self._asking.hold(name, run=run, agent=agent))

    def wait(self, name: str, seconds: float = LONGEST_WAIT, *, run: str, agent: str) -> Hold:
        """As `AsyncClient.wait`."""
        return self._done(self._asking.wait(name, seconds, run=run, agent=agent))

    def cancel(self, name: str, why: str, *, run: str, agent: str) -> Hold:
        """As `AsyncClient.cancel`."""
        return self._done(self._asking.cancel(name, why, run=run, agent=agent))

    def evaluate(
        self,
        subject: Mapping[str, object],
        action: Mapping[str, object],
        resource: Mapping[str, object],
        context: Mapping[str, object] | None = None,
    ) -> Evaluation:
        """As `AsyncClient.evaluate`."""
        return self._done(self._asking.evaluate(subject, action, resource, context))

    def evaluations(
        self, items: Sequence[Mapping[str, object]], *, semantic: str = "execute_all", **shared: Mapping[str, object]
    ) -> list[Evaluation]:
        """As `AsyncClient.evaluations`."""
        return self._done(self._asking.evaluations(items, semantic=semantic, **shared))

    def known(self, run: str, agent: str) -> Token | None:
        """As `AsyncClient.known`."""
        return self._asking.known(run, agent)

    def remember(self, run: str, agent: str, token: Token) -> None:
        """As `AsyncClient.remember`."""
        self._asking.remember(run, agent, token)

    def begin(self, run: str, agent: str) -> str | None:
        """As `AsyncClient.begin`."""
        return self._done(self._asking.begin(run, agent))

    def call(self, verb: str, body: run_calls.Of, answer: type[_A], *, more: float = 0) -> _A:
        """As `AsyncClient.call`."""
        return self._done(self._asking.call(verb, body, answer, more=more))

    def _done(self, work: Coroutine[Any, Any, _R]) -> _R:
        """What comes of some work in the loop, which runs in a thread of its own; in a new one after a fork."""
        with self._mutex:
            if self._loop is None or self._process != os.getpid():
                self._loop, self._process = asyncio.new_event_loop(), os.getpid()
                self._asking.forget()
                threading.Thread(target=_run, args=(self._loop,), name="vigil-client", daemon=True).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop).result()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _address(url: str) -> str:
    """An address as it is asked: `https://HOST[:PORT]`, on this machine also `http://…`, or `unix:/PATH`.

    Raises:
        ValueError: it is none, or goes beyond this machine without TLS.
    """
    if url.startswith("unix:"):
        path = url.removeprefix("unix:").replace("///", "/", 1)
        if not path.startswith("/") or path.startswith("//"):
            raise ValueError("the address of a gate service by a socket is unix:/PATH")
        return f"unix:{path}"
    try:
        found = urlsplit(url)
        host, has_port = found.hostname, found.port is not None
    except ValueError:
        raise ValueError("the address of the gate service is none: https://HOST:PORT") from None
    if found.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable():
        raise ValueError("the address of the gate service is none: https://HOST:PORT")
    if found.username is not None or found.query or found.fragment or found.path not in ("", "/"):
        raise ValueError("the address of the gate service has more than a host and a port")
    if found.scheme == "http" and not _is_this_machine(host):
        raise ValueError("the address of the gate service needs TLS beyond this machine: https://HOST:PORT")
    named = f"[{host}]" if ":" in host else host
    return f"{found.scheme}://{named}{f':{found.port}' if has_port else ''}"


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _trusted(ca: str | None) -> ssl.SSLContext:
    """The certificates that addresses are checked by."""
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError):
        raise StateError(f"the certificates {ca} cannot be read") from None


def _key(key: Key | Path | str | None) -> Key | None:
    from vigil_lang.gate.authority.keys import Key, load_key

    return key if key is None or isinstance(key, Key) else load_key(key)


def _read(chain: Path | str) -> tuple[tuple[list[Any], str], str]:
    """The envelopes of a chain with the id of its leaf, and for whom it is."""
    try:
        data = read_bytes(chain, MAX_BYTES)
    except OSError as error:
        raise StateError(f"the chain {chain} cannot be read: {error.strerror}") from error
    found = verify_chain(data, (), "", 0)
    if not found.digest:
        raise StateError(f"the chain {chain} is none: {found.problems[0].message}")
    return (msgspec.json.decode(data, type=list[Any]), found.digest), found.links[-1].payload.aud


def _whose(question: Mapping[str, Any]) -> tuple[str, str]:
    """The run and the agent that a question of AuthZEN is about, as far as it says so."""
    items = [question, *question.get("evaluations", ())]
    found = []
    for member, name in (("context", "run"), ("subject", "id")):
        texts = (each.get(member, {}).get(name) for each in items)
        found.append(next((text for text in texts if isinstance(text, str)), ""))
    return found[0] or found[1], found[1]


def _denied(error: Exception) -> Evaluation:
    known = isinstance(error, ServiceError | ValueError | HoldError)
    why = str(error) if known else f"the gate service cannot be asked: {type(error).__name__}"
    return Evaluation(False, {"reason": why})
