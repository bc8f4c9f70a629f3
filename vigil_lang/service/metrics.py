"""What Prometheus reads of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

if TYPE_CHECKING:
    from vigil_lang.gate.answer import Answer

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.decisions = Counter("vigil_decisions", "Decisions by mode", ["mode"], registry=self.registry)
        self.faults = Counter(
            "vigil_faults", "Actions blocked because the gate could not judge", registry=self.registry
        )
        self.late = Counter("vigil_late", "Actions blocked because their time was over", registry=self.registry)
        self.full = Counter("vigil_queue_full", "Actions blocked because too many waited", registry=self.registry)
        self.seconds = Histogram(
            "vigil_decision_seconds", "From a request to its answer", buckets=_SECONDS, registry=self.registry
        )
        self.queue = Gauge("vigil_queue", "Requests that wait to be decided", registry=self.registry)
        self.holds = Gauge("vigil_holds_pending", "Holds that wait for people", registry=self.registry)
        self.entries = Gauge("vigil_log_entries", "Entries of the log", registry=self.registry)
        self._by_mode = {mode: self.decisions.labels(mode) for mode in ("pass", "hold", "block")}

    def decided(self, answer: Answer, seconds: float) -> None:
        """An action was answered, so many seconds after it was asked for."""
        self._by_mode[answer.decision.mode].inc()
        self.seconds.observe(seconds)
        if answer.is_fault:
            self.faults.inc()
