"""The catalogue of programs (`stdlib/commands/*.toml`): what the words of a command line mean."""

from vigil_lang.abstraction.catalogue.load import names, program
from vigil_lang.abstraction.catalogue.programs import Code, Effect, Inner, Invocation, Program
from vigil_lang.abstraction.catalogue.read import read_command

__all__ = ["Code", "Effect", "Inner", "Invocation", "Program", "names", "program", "read_command"]
