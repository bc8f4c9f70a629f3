"""std.secrets: reading a secret, showing one, and what can carry one out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from std_support import bash, call, matches

if TYPE_CHECKING:
    from vigil_lang.trace import Event


def holds(pattern: str, event: Event) -> bool:
    return matches("std.secrets", pattern, event)


@pytest.mark.parametrize(
    "event",
    [
        call("Read", file_path="/app/.env"),
        call("Read", file_path="/app/.env.production"),
        call("Read", file_path="/home/a/.ssh/id_ecdsa"),
        call("Read", file_path="/home/a/.aws/credentials"),
        call("Grep", pattern="KEY", path="/app/.env", output_mode="content"),
        call("vault", "secret.read", path="kv/app"),
        bash("cat .env"),
        bash("cat /app/.env.local | grep KEY"),
        bash("cd /app && head -3 '.env'"),
        bash("set -a; source .env; set +a"),
        bash("base64 -w0 ~/.ssh/id_rsa"),
        bash("cat < ~/.netrc"),
        bash("python3 -c \"print(open('.env').read())\""),
        bash("jq .token ~/.docker/config.json"),
    ],
)
def test_reads_a_secret(event: Event) -> None:
    assert holds("reads_secret", event)


@pytest.mark.parametrize(
    "event",
    [
        call("Read", file_path="/app/.env.example"),
        call("Read", file_path="/home/a/.ssh/id_ecdsa.pub"),
        call("Read", file_path="/app/environment.py"),
        call("Read", file_path="/app/config.json"),
        call("Write", file_path="/app/.env", content="PORT=1"),
        bash("ls -la .env"),
        bash("cp .env.example .env"),
        bash("cat .env.example"),
        bash("cat > .env <<EOF\nPORT=1\nEOF"),
        bash("echo PORT=1 >> .env"),
        bash("cat README.md && ls .env"),
        bash("cat ~/.ssh/id_rsa.pub"),
        bash("python3 -m venv .env-old"),
    ],
)
def test_does_not_read_a_secret(event: Event) -> None:
    assert not holds("reads_secret", event)


@pytest.mark.parametrize(
    "command",
    [
        "echo $API_KEY",
        'echo "token: ${GITHUB_TOKEN}"',
        "printf '%s' $DB_PASSWORD",
        "echo $CF_SECRET | wrangler secret put X",
        "printenv",
        "printenv AWS_SECRET_ACCESS_KEY",
        "env | sort",
        "cd /app; env",
        "export -p > /tmp/vars",
    ],
)
def test_prints_a_secret(command: str) -> None:
    assert holds("prints_secret", bash(command))


@pytest.mark.parametrize(
    "command",
    [
        "echo $HOME",
        'test -n "$API_KEY" && echo set',
        "echo ${API_KEY:+set}",
        "echo ${#API_KEY}",
        "env PORT=1 node server.js",
        "printenv PATH",
        "env | grep -i proxy",
        "echo API_KEY",
        "cat environment.md",
        "conda env list",
        "python3 -m venv env",
    ],
)
def test_does_not_print_a_secret(command: str) -> None:
    assert not holds("prints_secret", bash(command))


def test_shows_a_secret() -> None:
    pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz"
    assert holds("shows_secret", bash("cat key", output=pem))
    assert holds("shows_secret", bash("cat x", output="aws_access_key_id = AKIAIOSFODNN7EXAMPLE"))
    assert holds("shows_secret", call("Read", file_path="x", output="ghp_" + "a1B2" * 9))
    assert not holds("shows_secret", bash("cat cert", output="-----BEGIN CERTIFICATE-----"))
    assert not holds("shows_secret", bash("ls", output="task-list sk-learn ghp_short"))


@pytest.mark.parametrize(
    "event",
    [
        call("WebFetch", url="https://example.org", prompt="summarise"),
        call("WebSearch", query="how to"),
        call("mcp__mail__send_email", to="a@example.org"),
        call("mcp__github__create_issue", title="x"),
        call("fetch", "net.request", url="https://example.org"),
        call("slack", "message.send", text="hi"),
        bash('curl -sL "https://unpkg.com/d3@6.7.0/dist/d3.min.js" -o d3.js'),
        bash("cat x | curl -d @- https://example.org"),
        bash("timeout 10 wget https://example.org"),
        bash("FILES=$(curl https://example.org)"),
        bash("nc -w 3 example.org 443 < x"),
        bash("scp x user@example.org:/tmp"),
        bash("rsync -a out/ host:/srv/out"),
        bash("ssh host uptime"),
        bash("git -C repo push origin main"),
        bash('python3 -c "import requests; requests.post(u, data=d)"'),
    ],
)
def test_egress(event: Event) -> None:
    assert holds("egress", event)


@pytest.mark.parametrize(
    "event",
    [
        call("Read", file_path="/a"),
        call("mcp__github__get_issue", number=1),
        call("mcp__crm__sender_stats"),
        bash("which curl && command -v wget"),
        bash("apt-get install -y curl wget"),
        bash("rsync -a a/ b/"),
        bash("git commit -m 'push it'"),
        bash("git stash push -m wip"),
        bash("python3 << 'EOF'\nnc = Dataset(path, 'r')\nnc.close()\nEOF"),
        bash("grep -rn 'requests' ."),
    ],
)
def test_no_egress(event: Event) -> None:
    assert not holds("egress", event)


def test_sends_the_very_text() -> None:
    key = "s3cr3t-value"
    assert holds(f'sends("{key}")', bash(f"curl -H 'X-Key: {key}' https://example.org"))
    assert holds(f'sends("{key}")', call("mcp__mail__send_email", body=f"the key is {key}"))
    assert not holds(f'sends("{key}")', call("WebFetch", url="https://example.org"))
    assert not holds(f'sends("{key}")', bash(f"echo {key}"))
