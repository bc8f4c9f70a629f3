"""A PostgreSQL server for tests, of the programs that Debian installs: it ends when its standard input does.

It listens on a socket in a temporary folder alone, as a user who may do nothing else where this one is root. Prints how
libpq names the database.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def programs() -> Path | None:
    """The folder with `initdb` and `postgres`, the newest; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def unprivileged() -> dict[str, Any]:
    """As whom the server runs: it refuses to run as root."""
    if os.geteuid():
        return {}
    names = {each.pw_name for each in pwd.getpwall()}
    name = next(each for each in ("postgres", "nobody") if each in names)
    return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": [], "cwd": "/"}


def main() -> int:
    folder, bin_ = Path(tempfile.mkdtemp(prefix="vigil-pg-")), programs()
    if bin_ is None:
        print("there is no PostgreSQL here", file=sys.stderr)
        return 2
    who = unprivileged()
    try:
        if who:
            os.chown(folder, pwd.getpwnam(who["user"]).pw_uid, who["group"])
        data = folder / "data"
        made = [bin_ / "initdb", "-D", data, "-A", "trust", "-U", "vigil", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, **who)
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "max_connections=200"]
        log = (folder / "log").open("wb")
        with subprocess.Popen([bin_ / "postgres", "-D", data, *options], stdout=log, stderr=log, **who) as server:
            try:
                ready = [bin_ / "pg_isready", "-q", "-h", folder, "-U", "vigil"]
                while subprocess.run(ready, check=False).returncode:
                    if server.poll() is not None:
                        print((folder / "log").read_text(errors="replace"), file=sys.stderr)
                        return 1
                print(f"host={folder} user=vigil dbname=postgres", flush=True)
                sys.stdin.read()
            finally:
                server.send_signal(3)  # at once: nothing of it is kept
        return 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
