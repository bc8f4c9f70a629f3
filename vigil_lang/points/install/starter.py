"""What `vigil init` puts into a project: its configuration, and a first policy that people go on from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.points.install.hosts import HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.install.hosts import Host

CONFIGURATION = "vigil.toml"
POLICY = "policies/agent.vgl"

STARTER: Mapping[str, str] = {
    CONFIGURATION: """\
# Policies that agents in this project are held to, by `vigil hook`. A policy of a project adds rules, and lowers none.
[hook]
policies = ["std.guard", "policies/agent.vgl"]
""",
    POLICY: """\
/// What agents are held to in this project, beside the rules of std.guard.
///
/// `vigil lint` checks this file; `vigil explain CODE` says more of what it finds. Runs that begin later go by what it
/// says then.
policy agent

use std.guard: fetches

/// A push is seen by others: a person confirms it, by `vigil hold approve ID`.
@message("pushes commits")
rule pushes: when git.push() then hold record remote, revision

/// Tests have passed before something is committed.
@on_violation(warn)
@message("this commits something, and no test passed before")
statement tested_before_commit: always git.commit() implies earlier test.run(status = ok)

/// What comes from another machine is confirmed, unless it comes by a package manager.
@message("fetches something from another machine")
rule downloads: when fetches then hold record url, host
""",
}
"""The files by their paths in the project."""


def hosts_here(project: Path, env: Mapping[str, str]) -> list[Host]:
    """The hosts whose program is on the PATH, or whose folder is in the home or the project."""
    return [host for host in HOSTS.values() if _is_here(host, project, env)]


def _is_here(host: Host, project: Path, env: Mapping[str, str]) -> bool:
    folders = [project / Path(host.files["project"]).parent, host.path("user", project, env).parent]
    return shutil.which(host.program) is not None or any(os.path.isdir(each) for each in folders)  # noqa: PTH112
