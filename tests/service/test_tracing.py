"""OpenTelemetry: a span a request, below that of whoever asks; nothing where nobody asked for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from service_support import made_state

from vigil_lang.service import tracing

PROGRAM = """
import asyncio, sys
from pathlib import Path
import httpx
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
found = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(found))
trace.set_tracer_provider(provider)
from vigil_lang.gate.gate import Gate
from vigil_lang.service.apps import data_app
from vigil_lang.service.service import Origins, Service
from service_support import asked

async def main():
    service = Service(Gate(Path(sys.argv[1])), Origins("http://localhost", "http://localhost"), no_auth=True)
    service.start()
    transport = httpx.ASGITransport(data_app(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        above = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        await client.post("/access/v1/evaluation", json=asked(), headers={"traceparent": above})
    await service.stop()

asyncio.run(main())
(span,) = found.get_finished_spans()
assert format(span.context.trace_id, "032x") == "4bf92f3577b34da6a3ce929d0e0e4736"
assert span.attributes["http.response.status_code"] == 200, span.attributes
assert span.attributes["vigil.mode"] == "pass"
assert span.attributes["vigil.log.seq"] >= 1
"""


@pytest.mark.processes
def test_a_request_is_a_span_with_its_decision(tmp_path: Path) -> None:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parents[1])])
    command = [sys.executable, "-c", PROGRAM, str(made_state(tmp_path))]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
    tracing.configure()
    assert tracing.tracer() is None


def test_without_an_exporter_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setattr(tracing, "entry_points", lambda **_: ())
    with pytest.raises(tracing.NoExporter, match="otel"):
        tracing.configure()
