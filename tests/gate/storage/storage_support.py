"""Nodes of a gate whose log lies in a database."""

from __future__ import annotations

from shutil import copy
from typing import TYPE_CHECKING

from gate_support import World

from vigil_lang.gate.gate import Gate

if TYPE_CHECKING:
    from pathlib import Path


def second(world: World, folder: Path) -> World:
    """Another node: its folder has the settings and the keys, and nothing else."""
    found = object.__new__(World)
    found.__dict__.update(world.__dict__)
    found.state = folder / "node"
    (found.state / "keys").mkdir(parents=True)
    for name in ("gate.toml", "log.vkey", *(f"keys/{path.name}" for path in (world.state / "keys").iterdir())):
        copy(world.state / name, found.state / name)
    for each in (found.state, found.state / "keys"):
        each.chmod(0o700)
    found.gate = Gate(found.state, clock=lambda: world.at)
    return found
