"""`vigil gate serve`: the gate as a service."""

from __future__ import annotations

import sys
from typing import Any

import click

from vigil_lang.diagnostics.visible import visible

_PORT = click.IntRange(0, 65535)


@click.command("serve", short_help="Serve decisions, and the page where people decide.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=_PORT, default=0, help="The port of decisions; by default a free one.")
@click.option("--control-port", type=_PORT, default=0, help="The port of the page and of operators; by default a free "
              "one.")  # fmt: skip
@click.option("--uds", metavar="PATH", help="A unix socket for decisions, in place of a port.")
@click.option("--control-uds", metavar="PATH", help="A unix socket for the page and operators, in place of a port.")
@click.option("--tls-cert", metavar="FILE", help="The certificate, with its chain, in PEM.")
@click.option("--tls-key", metavar="FILE", help="The certificate's private key, in PEM.")
@click.option("--no-auth", is_flag=True, help="Ask nobody for a token; on this machine only.")
@click.option("--state", metavar="DIR", help="The gate's state folder; by default VIGIL_STATE, else the user's own.")
def serve(state: str | None, no_auth: bool, tls_cert: str | None, tls_key: str | None, **where: Any) -> int:
    """Serve decisions to agents, and to people the page where they confirm or deny what is held.

    Prints the two addresses, the operator's token and a link to sign in, once it answers. SIGTERM ends it when what
    waits is answered; a second one at once.

    Exit status: 0 it was told to end; 2 it cannot listen there, or the state folder cannot be read.
    """
    from vigil_lang.gate.state import StateError, state_path

    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    try:
        from vigil_lang.service.serve import Listen, NotServing
        from vigil_lang.service.serve import serve as serve_gate
    except ImportError as error:
        raise click.ClickException(f'{error.name} is not installed: pip install "vigil-lang[gate]"') from error
    try:
        return serve_gate(
            state_path(state),
            Listen(tls_cert=tls_cert, tls_key=tls_key, **where),
            no_auth=no_auth,
            tell=lambda line: print(line, flush=True),
        )
    except (NotServing, StateError, OSError) as error:
        print(f"vigil: {visible(str(error))}", file=sys.stderr)
        return 2
