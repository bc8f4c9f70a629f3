"""examples/deploy: what the files name is there: options, ports, probes, settings, secrets."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from vigil_lang import __version__
from vigil_lang.cli.gate import command as gate_command
from vigil_lang.gate.settings import read_settings
from vigil_lang.service.serve import DRAIN_SECONDS

if TYPE_CHECKING:
    from service_support import Served

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
UNIT = (DEPLOY / "vigil-gate.service").read_text()
MANIFEST: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
PORTS = {"data": 8440, "control": 8441}


def instructions() -> list[tuple[str, str]]:
    """The instructions of the container file, continued lines joined."""
    text = re.sub(r"^#.*\n", "", CONTAINERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())]


def only(kind: str, name: str | None = None) -> dict[str, Any]:
    (found,) = [each for each in MANIFEST if each["kind"] == kind and name in (None, each["metadata"]["name"])]
    return found


def pod() -> dict[str, Any]:
    found: dict[str, Any] = only("Deployment")["spec"]["template"]["spec"]
    return found


def commands() -> dict[str, list[str]]:
    """How each file starts the service, from `gate` on."""
    (last,) = [rest for name, rest in instructions() if name == "CMD"]
    started = re.search(r"^ExecStart=/opt/vigil/bin/vigil (.*)$", UNIT, re.MULTILINE)
    assert started is not None
    return {"container": json.loads(last), "unit": started[1].split(), "manifest": pod()["containers"][0]["args"]}


@pytest.mark.parametrize("where", ["container", "unit", "manifest"])
def test_the_options_and_ports_are_those_of_the_verb(where: str) -> None:
    gate, verb, *given = commands()[where]
    serve = gate_command.commands[verb]
    assert (gate, verb) == ("gate", "serve")
    found = serve.make_context("serve", given).params
    assert (found["port"], found["control_port"]) == (PORTS["data"], PORTS["control"])
    assert found["no_auth"] is False


@pytest.mark.parametrize("name", ["gate.toml", "gate-cluster.toml"])
def test_the_settings_are_settings(name: str) -> None:
    found = read_settings(DEPLOY / name)
    for origin in (found.service.origin, found.service.data_origin):
        assert origin is not None
        assert origin.startswith("https://")  # beyond loopback the service begins only behind TLS
    assert found.notify.webhook is not None


# --- the container file ---------------------------------------------------------------------------------------------


def test_the_container_runs_as_nobody_special() -> None:
    stages = [at for at, (name, _) in enumerate(instructions()) if name == "FROM"]
    assert len(stages) == 2
    last = dict(instructions()[stages[1] :])
    assert last["USER"] == "10001:10001"
    assert last["EXPOSE"].split() == [str(port) for port in PORTS.values()]
    assert json.loads(last["ENTRYPOINT"]) == ["vigil"]
    assert last["STOPSIGNAL"] == "SIGTERM"
    assert not [rest for name, rest in instructions() if name == "ADD"]
    assert "VIGIL_STATE=/var/lib/vigil/state" in last["ENV"]


def test_what_is_copied_is_there_and_suffices_to_build() -> None:
    sources = [
        source
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    import tomllib

    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {path.split("/")[0] for path in (*wheel["force-include"], *wheel["packages"])}
    assert needed | {"pyproject.toml"} <= set(sources)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.search(r'"\.\[(.*?)\]"', CONTAINERFILE)
    assert named is not None
    assert set(named[1].split(",")) <= set(extras)


def test_the_health_check_asks_what_answers(served: Served) -> None:
    check = re.search(r"HEALTHCHECK.*?CMD (\[.*\])$", CONTAINERFILE.replace("\\\n", " "), re.MULTILINE)
    assert check is not None
    python, flag, code = ast.literal_eval(check[1])
    assert (python, flag) == ("python", "-c")
    port = served.data.rpartition(":")[2]
    assert str(PORTS["data"]) in code
    for asked, status in ((port, 0), ("1", 1)):
        command = [sys.executable, "-c", code.replace(str(PORTS["data"]), asked)]
        assert (subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0) is (status == 0)


def test_hadolint_finds_nothing() -> None:
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not there")
    subprocess.run([hadolint, str(DEPLOY / "Containerfile")], check=True, timeout=60)


# --- the unit -------------------------------------------------------------------------------------------------------


def test_systemd_takes_the_unit_and_finds_it_confined(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not there")
    copy = tmp_path / "vigil-gate.service"
    copy.write_text(UNIT.replace("/opt/vigil/bin/vigil", f'"{sys.executable}"'))
    found = subprocess.run(
        [analyze, "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "vigil-gate" not in found.stderr
    subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=20", "--no-pager", str(copy)],
        check=True,
        capture_output=True,
        timeout=60,
    )


def test_the_unit_waits_for_what_is_under_way() -> None:
    values = dict(line.split("=", 1) for line in UNIT.splitlines() if re.match(r"[A-Z]\w+=", line))
    assert int(values["TimeoutStopSec"]) > DRAIN_SECONDS
    assert values["StateDirectory"] == "vigil"
    assert "VIGIL_STATE=/var/lib/vigil/state" in UNIT
    assert values["StateDirectoryMode"] == "0700"


def test_no_line_of_the_unit_ends_in_a_remark() -> None:
    assert not [line for line in UNIT.splitlines() if re.match(r"\w+=.*\s#", line)]  # systemd reads it as a value


# --- the manifest ---------------------------------------------------------------------------------------------------


def test_the_manifest_fits_the_schemas() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    for each in MANIFEST:
        validate.validate(each, validate.latest_version(), strict=True)


def test_probes_ask_what_answers(served: Served) -> None:
    (container,) = pod()["containers"]
    assert {each["name"]: each["containerPort"] for each in container["ports"]} == PORTS
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["port"] in PORTS
        with urllib.request.urlopen(getattr(served, asked["port"]) + asked["path"], timeout=10) as answer:
            assert answer.status == 200
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"  # a database that is gone restarts nothing
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_services_budget_and_policy_choose_the_pods() -> None:
    labels = only("Deployment")["spec"]["template"]["metadata"]["labels"]
    chosen = [
        only("Deployment")["spec"]["selector"]["matchLabels"],
        *(each["spec"]["selector"] for each in MANIFEST if each["kind"] == "Service"),
        only("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        only("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(each.items() <= labels.items() for each in chosen)
    assert len(chosen) == 5
    assert {each["metadata"]["namespace"] for each in MANIFEST[1:]} == {only("Namespace")["metadata"]["name"]}
    assert only("Deployment")["spec"]["replicas"] > only("PodDisruptionBudget")["spec"]["minAvailable"]


def test_each_address_has_a_service_of_its_own_and_other_guests() -> None:
    for name, port in PORTS.items():
        (found,) = only("Service", f"vigil-{name}")["spec"]["ports"]
        assert (found["port"], found["targetPort"]) == (port, name)
    data, control = only("NetworkPolicy")["spec"]["ingress"]
    assert (data["ports"], control["ports"]) == ([{"port": "data"}], [{"port": "control"}])
    assert data["from"] != control["from"]


def test_every_container_is_confined() -> None:
    spec = pod()
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["automountServiceAccountToken"] is False
    assert spec["terminationGracePeriodSeconds"] > DRAIN_SECONDS
    for container in (*spec["initContainers"], *spec["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert container["image"].endswith(f":{__version__}")


def test_every_volume_is_there_and_every_file_that_the_settings_name() -> None:
    spec = pod()
    volumes = {each["name"] for each in spec["volumes"]}
    mounts = {each["mountPath"]: each["name"] for each in spec["containers"][0]["volumeMounts"]}
    assert set(mounts.values()) == volumes
    for path in re.findall(r"/etc/vigil/[a-z-]+", (DEPLOY / "gate-cluster.toml").read_text()):
        assert path in mounts
    made = re.findall(r"create secret generic (\S+)", (DEPLOY / "kubernetes.yaml").read_text())
    assert {each["secret"]["secretName"] for each in spec["volumes"] if "secret" in each} == set(made)


def test_the_state_folder_of_a_node_is_one(tmp_path: Path) -> None:
    """The init container's script, over secrets as it finds them, makes a folder that the gate takes."""
    from vigil_lang.gate.log.log import create_log
    from vigil_lang.gate.state import StateFolder

    origin = tmp_path / "origin"
    origin.mkdir(mode=0o700)
    create_log(StateFolder(origin))
    secrets = {
        "state/gate.toml": (DEPLOY / "gate.toml").read_bytes(),
        "state/log.vkey": (origin / "log.vkey").read_bytes(),
        "state/log.pem": (origin / "keys" / "log.pem").read_bytes(),
        "postgres/pgpass": b"*:*:*:*:secret\n",
    }
    for name, data in secrets.items():
        path = tmp_path / "etc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o440)
    (script,) = pod()["initContainers"][0]["args"]
    assert "vigil gate migrate" in script
    assert "migrate" in gate_command.commands
    script = script.replace("/etc/vigil", str(tmp_path / "etc")).replace("vigil gate migrate", "true")
    work = tmp_path / "work"
    work.mkdir(mode=0o777)
    work.chmod(0o2777)  # as an emptyDir with an fsGroup is
    for _ in range(2):  # a container may start again on the same volume
        subprocess.run(["/bin/sh", "-ec", script], cwd=work, check=True, timeout=30)
    folder = StateFolder(work / "state")
    read_settings(folder.settings)
    assert folder.log_key.read_bytes() == secrets["state/log.pem"]
    assert (work / "pgpass").stat().st_mode & 0o077 == 0  # else libpq passes it over
