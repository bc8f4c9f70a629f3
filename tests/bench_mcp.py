"""Timings of the MCP proxy, beside those of the server alone: part of `make bench`.

A call of a tool that does nothing, of a server without any package, over standard streams. What the gate takes is told
apart: it waits for the disk once for the decision, and once for the outcome, which the client does not wait for.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.points.mcp.mcp_support import PROXY, RAW, Wire
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.setup import make_state

CALLS, TARGET = 300, 3.0
PAUSE = 0.02
"""Seconds between calls, as a model pauses: the outcome of one is written when the next comes."""


def milliseconds(argv: list[str], tool: str = "tools/call") -> float:
    """The median of a call."""
    wire = Wire(argv)
    try:
        wire.initialize()
        taken = []
        for _ in range(CALLS):
            began = time.perf_counter()
            wire.ask(tool, {"name": "echo", "arguments": {"n": 1}} if tool == "tools/call" else {})
            taken.append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE)
        return sorted(taken)[CALLS // 2]
    finally:
        wire.close()
        wire.process.kill()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        state, work = Path(folder, "state"), Path(folder, "work")
        work.mkdir()
        make_state(state, work, is_open=True)
        proxy = [*PROXY, "--state", str(state), "--name", "raw", "--", *RAW, "raw"]
        direct = milliseconds([*RAW, "raw"])
        relayed = milliseconds(proxy, "ping") - milliseconds([*RAW, "raw"], "ping")
        through = milliseconds(proxy)
        settings = state / "gate.toml"
        settings.write_text(settings.read_text() + '\n[log]\ndurability = "process"\n')
        Gate(state)
        quick = milliseconds(proxy)
    print("\nMCP proxy, a call of a tool\n")
    print(f"  the server alone                     {direct:6.2f} ms")
    print(f"  the proxy adds, passing through      {relayed:6.2f} ms")
    print(f"  the proxy adds, durability process   {quick - direct:6.2f} ms   target {TARGET} ms")
    print(f"  the proxy adds, durability power     {through - direct:6.2f} ms   target {TARGET} ms and the disk")


if __name__ == "__main__":
    main()
