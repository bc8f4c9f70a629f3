"""`vigil compile`: statements as SMT-LIB, on a recorded run or on every run of some length."""

from __future__ import annotations

from typing import Any

import click

from vigil_lang.base.outputs import write_text
from vigil_lang.cli.options import abstraction_options, config_option, run_options, settings_of
from vigil_lang.cli.output import secrets_option
from vigil_lang.diagnostics.secrets import learn


@click.command("compile")
@click.argument("policy")
@click.option("--trace", "run", metavar="RUN", help="A recorded run; `-` reads it from standard input.")
@click.option("--length", type=click.IntRange(1, 200), metavar="N", help="All runs of N events instead.")
@click.option("--signature", metavar="FILE", help="With --length: the actions and arguments events may have.")
@click.option("--statement", "names", multiple=True, metavar="NAME", help="Only this statement (repeatable).")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a `param`.")
@click.option("--params", metavar="FILE.toml", help="Values for `param` declarations.")
@run_options
@config_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@secrets_option
def command(
    policy: str,
    run: str | None,
    length: int | None,
    signature: str | None,
    names: tuple[str, ...],
    settings: tuple[str, ...],
    params: str | None,
    source: str | None,
    config: str | None,
    isolated: bool,
    output: str,
    **how: Any,
) -> None:
    """Write POLICY as an SMT-LIB 2.6 script that Z3 and cvc5 read.

    With --trace the script is `unsat` exactly when the run breaks the statement, and its unsatisfiable core names
    offending events. With --length it is `sat` when some run of N events complies; add assertions of your own to ask
    for more. Several statements are separate blocks, parted by `(reset)`.
    """
    if (run is None) == (length is None):
        raise click.UsageError("Give either --trace RUN or --length N.")
    if signature is not None and run is not None:
        raise click.UsageError("--signature goes with --length.")
    from vigil_lang.cli.params import check_settings, read_params
    from vigil_lang.semantics.policy import load_policy
    from vigil_lang.signatures import load_signature

    project = settings_of(config, isolated=isolated)
    loaded = load_policy(policy, {**project.params, **read_params(settings, params)})
    check_settings(settings, [loaded])
    chosen = [s for s in loaded.statements if not names or s.name in names]
    if unknown := set(names) - {s.name for s in chosen}:
        known = ", ".join(f"'{s.name}'" for s in loaded.statements)
        raise click.UsageError(f"{policy} has no statement {', '.join(map(repr, sorted(unknown)))}; it has {known}.")
    if run is not None:
        from vigil_lang.engines.smt.smtlib import export
        from vigil_lang.runs import load_trace

        trace = load_trace(run, format=source, options=abstraction_options(tools=project.known_tools, **how))
        for event in trace.events:
            learn(event.args)
        text = export(chosen, trace)
    else:
        from vigil_lang.engines.smt.symbolic import export_symbolic

        assert length is not None
        text = export_symbolic(chosen, length, load_signature(signature) if signature else None)
    write_text(output, text)
