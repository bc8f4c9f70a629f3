"""How long the page takes over a large log: `python tests/bench_page.py [--holds 10000] [--entries 1000000]`.

The state is made anew: so many actions wait, and the log has so many entries. Told are the server's time for each page,
warm, and the first paint in Chromium where it is installed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "gate"), str(HERE / "service" / "page")]

from page_support import Site  # noqa: E402

from vigil_lang.gate.gate import Gate  # noqa: E402

GOAL = 0.2
"""Seconds that a page may take."""

ROUNDS = 15

_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def large(site: Site, holds: int, entries: int) -> str:
    """Fill a state; gives the id of a hold."""
    gate = site.gate
    site.made("get_invoice", run="r0", agent="a0", invoice="inv-1")
    name = ""
    for number in range(holds):
        name = site.held(
            "payment.transfer", run=f"r{number % 500}", agent=f"a{number % 500}", amount=900 + number % 9000
        )
    with gate.holds.transaction(), gate.log.deferred():
        for number in range(entries - gate.log.size):
            gate.log.append("refusal", {"message": f"request {number} was bad"})
    gate.checkpoint()
    return name


def server_time(site: Site, address: str) -> float:
    """The median of the seconds that a page takes, once it was asked for before."""
    site.client.get(address)
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = site.client.get(address)
        took.append(time.perf_counter() - began)
        assert answer.status_code == 200, (address, answer.text)
        assert len(answer.content) <= 100_000, address
    return statistics.median(took)


def first_paint(site: Site, address: str) -> float | None:
    """Seconds until something is painted, None where there is no browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if not Path("/usr/bin/chromium").exists():
        return None
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page()
        found = []
        for _ in range(5):
            tab.goto(site.url + address)
            painted = None
            while painted is None:
                painted = tab.evaluate(_PAINTED)
            found.append(painted)
        browser.close()
        return statistics.median(found) / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holds", type=int, default=10_000)
    parser.add_argument("--entries", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(
            Path(folder), no_auth=True,
            **{"timeout = 300": "timeout = 86400", "[revocation]": '[log]\ndurability = "process"\n\n[revocation]'},
        )  # fmt: skip
        began = time.perf_counter()
        hold = large(site, asked.holds, asked.entries)
        print(f"{asked.holds:,} holds, {site.gate.log.size:,} entries, made in {time.perf_counter() - began:.0f} s")
        addresses = ["/holds", "/holds?page=300", f"/holds/{hold}", "/log", "/log?kind=decision", "/log?run=r7",
                     "/log?text=r7", "/log/500000", "/runs", "/runs/r7", "/policies", "/kill"]  # fmt: skip
        slow = 0
        for address in addresses:
            server = server_time(site, address)
            paint = first_paint(site, address)
            slow += max(server, paint or 0) > GOAL
            told = "" if paint is None else f"  first paint {paint * 1000:6.0f} ms"
            print(f"{address.replace(hold, 'HOLD'):<24} server {server * 1000:6.1f} ms{told}")
        site.close()
        began = time.perf_counter()
        Gate(site.world.state).close()
        print(f"opened again in {time.perf_counter() - began:.1f} s")
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
