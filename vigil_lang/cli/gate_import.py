"""`vigil gate import`: rules in the notation `when:` / `and:` / `or:` / `then:` / `record:` as a policy."""

from __future__ import annotations

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.params import params_options


@click.command("import")
@click.argument("file", metavar="FILE.yaml")
@params_options
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
def import_rules(file: str, settings: tuple[str, ...], params: str | None, output: str) -> int:
    """Write the rules of FILE.yaml (`-`: standard input) as a formatted policy.

    A value of `user.config` becomes a `param`: --set and --params give its default. One without a value gets the most
    careful, with which a rule that holds or blocks matches all it can. What a policy cannot say exactly is refused with
    its place.

    Exit status: 0 written, 2 the file cannot be read, or something in it cannot be said.
    """
    from vigil_lang.base.files import read_source
    from vigil_lang.base.outputs import check_outputs, write_text
    from vigil_lang.cli.params import check_settings, read_params
    from vigil_lang.diagnostics import Source
    from vigil_lang.gate.importing import MAX_CHARACTERS, import_rules_text
    from vigil_lang.semantics.policy import read_policy

    source = read_source(file, 4 * MAX_CHARACTERS)
    check_outputs(output)
    text = import_rules_text(source, read_params(settings, params))
    check_settings(settings, [read_policy(Source("<stdin>", text))])
    write_text(output, text)
    return CLEAN
