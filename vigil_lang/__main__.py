"""The `vigil` command. `--version` and hooks answer before the command line is imported."""

from __future__ import annotations

import os
import sys

_VERBS_OF_HOOK = (["install"], ["package"], ["status"], ["uninstall"], ["--help"], ["-h"])


def main() -> None:
    """Run the command line and exit with its status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from vigil_lang.version import __version__

        print(f"vigil {__version__}")
        return
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in ([], *_VERBS_OF_HOOK):
        from vigil_lang.points.daemon.asking import leave
        from vigil_lang.points.daemon.asking import main as ask

        leave(ask(sys.argv[2:]))
    from vigil_lang.base.processes import import_path
    from vigil_lang.cli.exit_codes import BROKEN_TOOL

    sys.path[:] = import_path()
    try:
        from vigil_lang.cli.main import run

        status = run()
    except Exception as error:  # a broken installation must not look like a violation
        if "VIGIL_DEBUG" in os.environ:
            raise
        print(f"vigil: internal error: {type(error).__name__}: {error!a}", file=sys.stderr)
        status = BROKEN_TOOL
    sys.exit(status)


if __name__ == "__main__":
    main()
