"""The `vigil` command. `--version` answers before anything is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from vigil_lang import __version__

        print(f"vigil {__version__}")
        return
    from vigil_lang.cli.main import run

    sys.exit(run())


if __name__ == "__main__":
    main()
