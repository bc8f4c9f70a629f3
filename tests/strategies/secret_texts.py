"""Texts with secrets of every shape of the table, made anew from a seed."""

from __future__ import annotations

import string
from random import Random
from typing import NamedTuple

from vigil_lang.diagnostics.secrets import SHAPES

LETTERS = string.ascii_letters + string.digits


class Sample(NamedTuple):
    """A text as it stands in a run, and of its secret what must not be shown."""

    kind: str
    text: str
    drawn: str

    def parts(self, length: int = 8) -> set[str]:
        """All pieces of the secret of some length: none of them may be shown."""
        lines = self.drawn.split("\n")
        return {line[at : at + length] for line in lines for at in range(len(line) - length + 1)}


def samples(seed: int) -> list[Sample]:
    """A text for every shape, in the order of the table."""
    random = Random(seed)

    def drawn(length: int, letters: str = LETTERS) -> str:
        # Of each kind of letter some, as what is drawn at random has; no two are equal beside each other.
        found = random.sample(letters, min(length, len(letters)))
        while len(found) < length:
            found.append(random.choice([each for each in letters if each != found[-1]]))
        return "".join(found)

    def named(form: str, length: int = 24) -> tuple[str, str]:
        secret = f"{drawn(length)}a7"
        return form.format(secret), secret

    def token(prefix: str, length: int, letters: str = LETTERS) -> tuple[str, str]:
        secret = drawn(length, letters)
        return f"use {prefix}{secret} now", secret

    def worded(form: str) -> tuple[str, str]:
        secret = "".join(random.sample(string.ascii_lowercase, 11))
        return form.format(secret), secret

    upper = string.ascii_uppercase + string.digits
    lines = "\n".join(drawn(62, LETTERS + "+/") + "aQ" for _ in range(random.randint(1, 6)))
    dotted = f"{drawn(22)}.{drawn(43)}"
    made = [
        (f"x\n-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----\ny", lines),
        token("AKIA", 16, upper),
        token("ghp_", 36),
        token("github_pat_", 60),
        token("glpat-", 20),
        token("xoxb-", 40),
        token("sk_live_", 24),
        token("sk-ant-", 60),
        token("AIza", 35),
        token("ya29.", 50),
        token("dop_v1_", 64, "0123456789abcdef"),
        token("npm_", 36),
        token("pypi-", 80),
        token("hf_", 34),
        (f"use SG.{dotted} now", dotted),
        token("AGE-SECRET-KEY-1", 58, upper),
        (f"use eyJ{drawn(20)}.eyJ{dotted} now", dotted),
        named("psql postgres://ann:{}@db.example.com/books", 12),
        named("post https://hooks.slack.com/services/{} now"),
        named("post https://discord.com/api/webhooks/123456789/{} now", 60),
        named("get https://api.telegram.org/bot12345678:{}/getMe", 33),
        named("AccountName=a;AccountKey={}==;EndpointSuffix=b", 40),
        named("Cookie: lang=de; session={}; x=y"),
        named("curl -b session={} https://example.com"),
        named("curl -u ann:{} https://api.example.com", 10),
        named("sshpass -p {} ssh host", 10),
        named("redis-cli -h host -a {} ping", 10),
        named("docker login -u ann -p {} registry.example.com", 10),
        named("mysqldump -uroot -p{} books", 10),
        named("curl -H 'Authorization: Bearer {}' https://api.example.com"),
        named('DB_PASSWORD="{}" ./run', 10),
        named("login --password {} --quiet", 10),
        named("export OPENAI_API_KEY={}"),
        named("deploy --auth-key {} --now"),
        worded('connect(host="h", password="{}")'),
        worded('{{"api_key": "{}"}}'),
        worded("env PGPASSWORD={} psql"),
        worded("env MYSQL_PWD={} mysql"),
        named("password = {}\nuser = ann", 4),
        worded("host: h\npassword: {}\nport: 1"),
        worded("mysql -uroot -p{} books"),
        worded("zip -r -P {} a.zip b"),
        worded("mongosh -u ann -p {} --host h"),
        worded("sshpass -p '{}' ssh h"),
        worded("openssl enc -aes-256-cbc -pass pass:{} -in a"),
        worded("curl -s -u ann:{} https://example.com"),
        worded("docker login --password {} --quiet"),
        worded("<db><password>{}</password></db>"),
        worded('<add key="password" value="{}"/>'),
        worded('{{"name": "X-Api-Key", "value": "{}"}}'),
        worded('<input type="password" name="p" value="{}">'),
        worded('<input value="{}" type="password">'),
        worded("create user ann identified by '{}'"),
        worded("open ftp://ann:{}@files.example.com/books"),
    ]
    assert len(made) == len(SHAPES)
    return [Sample(shape.kind, *each) for shape, each in zip(SHAPES, made, strict=True)]
