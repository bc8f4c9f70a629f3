"""OpenTelemetry spans, by its API alone: one a request, with what was decided; off unless OTEL_… variables ask."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from opentelemetry import propagate, trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.trace import Span, Tracer
    from starlette.types import Scope

    from vigil_lang.gate.answer import Answer

_ASKING = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")


class NoExporter(Exception):
    """Spans are asked for, and nothing is installed that exports them."""


def configure() -> None:
    """Have spans exported as the environment says, where it says so; what is configured already stays.

    Raises:
        NoExporter: the extra `otel` is not installed.
    """
    if not any(os.environ.get(each) for each in _ASKING) or tracer() is not None:
        return
    found = next(iter(entry_points(group="opentelemetry_configurator")), None)
    if found is None:
        raise NoExporter('the environment asks for traces: pip install "vigil-lang[otel]"')
    found.load()().configure()


def tracer() -> Tracer | None:
    """What makes spans, None where nobody would see them."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer("vigil")


@contextmanager
def span(tracer: Tracer, scope: Scope) -> Iterator[Span]:
    """The span of a request, below that of whoever asks where its headers name one."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    attributes = {
        "http.request.method": scope["method"],
        "url.path": scope["path"][:1000],
        "url.scheme": scope["scheme"],
    }
    with tracer.start_as_current_span(
        scope["method"], propagate.extract(headers), trace.SpanKind.SERVER, attributes
    ) as found:
        yield found


def note(answer: Answer) -> None:
    """Say in the span of the request what was decided."""
    found = trace.get_current_span()
    found.set_attribute("vigil.mode", answer.decision.mode)
    if answer.seq is not None:
        found.set_attribute("vigil.log.seq", answer.seq)
