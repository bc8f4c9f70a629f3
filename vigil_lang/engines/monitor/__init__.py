"""Rules judged while a run happens: what a pending call would break, what is owed, and the verdict at the end."""

from vigil_lang.engines.monitor.monitor import MonitorEngine, RunMonitor

__all__ = ["MonitorEngine", "RunMonitor"]
