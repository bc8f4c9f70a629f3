"""Bash text becomes the simple commands it runs: words expanded, directories tracked, statuses where they show.

Nothing is run and no disk is looked at. tree-sitter finds the structure; what cannot be known before the text runs
is marked as not known.
"""

from vigil_lang.abstraction.shell.reader import read_shell
from vigil_lang.abstraction.shell.spawned import shell_text
from vigil_lang.abstraction.shell.state import Command, Reading, Redirect, ShellState

__all__ = ["Command", "Reading", "Redirect", "ShellState", "read_shell", "shell_text"]
