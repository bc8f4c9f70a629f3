"""The program that hosts run, by its path: ``python -I -S client.py --host claude …``. It works as `vigil hook` does.

It is compiled anew at every call, as whatever is run by path: what it does is in modules that are compiled once.
"""

import sys


def run(argv: list[str]) -> int:
    """Ask the daemon or decide here; with `serve` as the first argument, be the daemon."""
    if argv[:1] == ["serve"]:
        from vigil_lang.points.daemon.asking import find_packages

        find_packages()
        from vigil_lang.points.daemon.server import start

        return start(argv[1:])
    # On a full disk Python keeps the beginning of a module that it compiles, and every later hook would fail at it.
    sys.dont_write_bytecode = True
    from vigil_lang.points.daemon.asking import main

    return main(argv)


if __name__ == "__main__":
    root = __file__.rpartition("/vigil_lang/points/daemon/")[0]
    sys.path.append(root)
    status = run(sys.argv[1:])
    from vigil_lang.points.daemon.asking import leave

    leave(status)
