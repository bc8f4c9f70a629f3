"""What looks like a secret is shown by no verb, whatever the format, and masking it changes nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from cli_support import Result, called
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.secret_texts import Sample, samples
from vigil_lang.api import parse_policy, verify
from vigil_lang.diagnostics import Source, Span, shorten
from vigil_lang.diagnostics.excerpt import excerpt
from vigil_lang.diagnostics.secrets import TAG, find, masked, masked_value, masked_with, one_output
from vigil_lang.diagnostics.visible import safe_json, visible
from vigil_lang.gate.tier.source import Seen
from vigil_lang.gate.tier.sources.secret_text import SecretText
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEEDS = st.integers(0, 2**32)


def leaks(shown: str, of: Iterable[Sample]) -> list[str]:
    """The kinds of which some part is shown."""
    return [each.kind for each in of if any(part in shown for part in each.parts())]


# --- texts ---------------------------------------------------------------------------------------------------------


@given(SEEDS)
@settings(max_examples=30)
def test_every_shape_is_masked_and_nothing_else(seed: int) -> None:
    for each in samples(seed):
        (found,) = find(each.text)
        assert found.shape.kind == each.kind
        with one_output():
            shown = masked(each.text)
            assert leaks(shown, [each]) == []
            assert masked(shown) == shown
            assert shown == each.text[: found.start] + f"[secret 1: {each.kind}]" + each.text[found.end :]
            # A mask hides no more than the secret: nothing that a shell would take for a command of several words.
            assert re.search(r"[;|&`$(){}<>\"']", each.text[found.start : found.end]) is None
            assert each.kind == "private key" or " " not in each.text[found.start : found.end]


@given(SEEDS)
@settings(max_examples=10)
def test_equal_secrets_look_equal_within_one_output_and_others_do_not(seed: int) -> None:
    texts = [each.text for each in samples(seed)]
    with one_output():
        first = [TAG.findall(visible(text)) for text in texts]
        assert [TAG.findall(visible(f"again {text}")) for text in reversed(texts)] == first[::-1]
        assert len({tag for (tag,) in first}) == len(texts)
    with one_output():
        assert TAG.findall(visible(texts[-1])) == [re.sub("[0-9]+", "1", first[-1][0])]
    with one_output(show=True):
        lines = [text for text in texts if "\n" not in text]
        assert [visible(text) for text in lines] == lines


CUTS = [shorten.cut, shorten.cut_middle, shorten.middle]


@given(SEEDS, st.integers(0, 60), st.integers(0, 60), st.integers(13, 200))
@settings(max_examples=60)
def test_no_cut_leaves_a_part_of_a_secret(seed: int, before: int, after: int, room: int) -> None:
    for each in samples(seed):
        text = f"{'word ' * before}{each.text}{' word' * after}"
        for cut in CUTS:
            with one_output():
                shown = visible(cut(text, room))
                assert leaks(shown, [each]) == [], (cut.__name__, text)
                assert cut is not shorten.middle or len(shown) <= room
                assert "[secret" not in TAG.sub("", shown)  # no cut falls into a tag either


@given(SEEDS, st.integers(0, 20), st.integers(20, 90))
@settings(max_examples=20)
def test_an_excerpt_shows_no_part_and_marks_what_it_marked(seed: int, before: int, room: int) -> None:
    for each in samples(seed)[1:]:
        line = f"{'word ' * before}{each.text} then more of it"
        at = line.index("then")
        with one_output():
            text, marks = [row.text for row in excerpt(Source("x", line), Span(at, at + 4), room)]
            assert leaks(text, [each]) == []
            assert text[marks.index("^") : len(marks)] == "then"


@pytest.mark.parametrize(
    "text",
    [
        "use AKIAIOSFODNN7EXAMPLE for AWS",
        "password=changeme-please",
        "token = get_token_of_user2(request)",
        "secret: ${{ secrets.DEPLOY_TOKEN_2024 }}",
        "password = args.password2",
        "max_tokens=4096, token_count: 1234567890123456",
        "postgres://ann:${PASSWORD}@db/x",
        "kAKIA2E0A8F3B244C9986",
        "git commit 0123456789abcdef0123456789abcdef01234567",
        "api_key_path=/etc/vigil/keys/production2.pem",
        "-----BEGIN CERTIFICATE-----",
        "sk-" + "a" * 40,
        "docker run -u 1000:1000 -p 8080:80 app2",
        "git push -u origin HEAD:feature2",
        "mysql -uroot -p books2024",
        "mysql -P 3306 -uroot -p",
        "docker run --name mysql -p3306:3306 mysql",
        "apt install mysql-server && mkdir -p/srv/books",
        "senha = obter_senha2()",
        "login failed at 10:20 -port",
        "Cookie: lang=de; theme=dark",
        "https://example.com/bottles/12345678",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        'connect(password="hunter2")',
        "connect(password = 'hunter2')",
        '{"password": "hunter2"}',
        r"{\"password\":\"hunter2\"}",
        'config["password"] = "hunter2"',
        "alter user ann password 'hunter2'",
        "create user ann identified by 'hunter2'",
        "PGPASSWORD=hunter2 psql",
        "mysql --password=hunter2 books",
        "mysql -uroot -phunter2 books",
        "mysqldump -h h -p'hunter2' books > books.sql",
        "docker exec db mariadb -u ann -phunter2 -e 'select 1'",
        'passwort = "hunter2"',
        "contraseña: hunter2",
        '{"mot_de_passe": "hunter2"}',
        "get https://h/x?senha=hunter2&y=1",
        "docker login --db-password hunter2 -u ann",
        'login --password "hunter2"',
        "curl -d 'user=ann&password=hunter2' h",
        "get https://h/x?password=hunter2&y=1",
        "Server=h;Password=hunter2;User=ann",
        "password: hunter2",
        "db:\n  password: hunter2\n  port: 1",
        "- name: DB_PASSWORD\n  value: hunter2",
        '{"name": "password", "value": "hunter2"}',
        "<dbPassword>hunter2</dbPassword>",
        "<key>password</key>\n<string>hunter2</string>",
        '<user name="ann" password="hunter2"/>',
        '<property name="password" value="hunter2"/>',
        '<input type="password" value="hunter2">',
        "<input value='hunter2' type='password'>",
        "psql postgres://ann:hunter2@db/books",
        *(
            around.format(command)
            for around in (
                "{}",
                "`{}`",
                "$({})",
                "({})",
                "{}>o",
                "{};ls",
                "ssh h '{}'",
                "{}\nls",
                '{{"command": "{}"}}',
            )
            for command in (
                "export PASSWORD=hunter2",
                "mysql -uroot -phunter2",
                "MYSQL_PWD=hunter2",
                "tool --admin_password hunter2",
                "wget --user=a --password hunter2 https://h",
                "tool --passwort hunter2 file.txt",
                "mongosh -u ann -p hunter2",
                "zip -P hunter2 a.zip b",
                "unzip -P hunter2 a.zip",
                "sshpass -p hunter2 ssh h",
                "sqlcmd -S h -U sa -P hunter2",
                "curl -u ann:hunter2 https://h",
                "curl -uann:hunter2",
                "curl --proxy-user ann:hunter2",
                "openssl enc -pass pass:hunter2",
            )
        ),
        "curl -u ann:'hunter2' https://h",
    ],
)
def test_a_word_is_masked_where_its_place_tells_that_it_is_a_secret(text: str) -> None:
    for word in ("hunter2", "swordfish", "qi"):
        said = text.replace("hunter2", word)
        with one_output():
            shown = masked(said)
            assert shown == said.replace(word, "[secret 1: password]")
            assert masked(shown) == shown
            # Nowhere else: it may be a word like any other.
            if word != "hunter2":
                assert masked(f"a {word} is no secret") == f"a {word} is no secret"


@pytest.mark.parametrize(
    "text",
    [
        "def connect(password: str, user: str) -> None:",
        "password: string",
        "password: required",
        "interface Login { password: string; user: string }",
        "connect(password=secret_of_user, user=name)",
        "password = getpass()",
        "password=None",
        "password=args.passwd",
        "password=os.environ['DB']",
        'password="$DB_PASSWORD"',
        'password="{pw}"',
        "password='%s'",
        'password=""',
        'password="********"',
        '"password": "changeme"',
        "<password>${db.password}</password>",
        "<input type='password' name='pw'>",
        "use --password to set the password, and --password-file for a file",
        "with --password a person is asked, and --db-password takes a value",
        "run it with --no-password file.txt",
        "(see password=name)",
        "`password=name.of_it`",
        "password = name",
        "mysql -p `books`",
        'api_key="$KEY"',
        "curl -u $NAME:$WORD https://h",
        "cp -p a b; zip a.zip b",
        "the password is asked for: type it",
        "https://user:pass@host/x",
        "my password and your password are words",
        'field("password", "Passwort")',
    ],
)
def test_what_stands_beside_the_name_of_a_secret_and_is_none_is_left_alone(text: str) -> None:
    assert find(text) == ()


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "db_password",
        "--password",
        "of.password",
        "PGPASSWORD",
        "Passwort",
        "contraseña",
        "client_secret",
        "apiKey",
        "access_token",
    ],
)
def test_the_name_of_an_argument_tells_that_any_word_is_a_secret(name: str) -> None:
    for word in ("hunter2", "swordfish", "ox"):
        with one_output():
            kind = "password" if name.lower().endswith(("password", "passwort", "contraseña")) else "secret"
            assert masked_value({name: [word], "text": f"the {word}s"}) == {
                name: [f"[secret 1: {kind}]"],
                "text": f"the {word}s",
            }
    for none in ("", "true", "changeme", "$PW", "/etc/x.key", "two words", "a;b", "{{ pw }}"):
        with one_output():
            assert masked_value({name: none}) == {name: none}
    for other in ("password.name", "max_tokens", "secret", "token", "password_file", "text"):
        with one_output():
            assert masked_value({other: "swordfish"}) == {other: "swordfish"}


@pytest.mark.parametrize("separator", ["\\n", "\\\\n", "\n     7\t", "\n+", "\r\n", "\n> "])
def test_a_key_is_found_however_its_lines_are_written(separator: str) -> None:
    key = samples(7)[0]
    with one_output():
        assert leaks(masked(key.text.replace("\n", separator)), [key]) == []


def test_what_stands_after_a_break_in_json_is_found() -> None:
    for each in samples(3)[1:]:
        with one_output():
            assert leaks(masked(json.dumps({"text": f"a\n{each.text.removeprefix('use ')}"})), [each]) == []
            assert leaks(safe_json({"a": [{each.text: 1}, "\x01" + each.text]}), [each]) == []


def test_marks_of_a_text_are_marks_of_what_is_shown() -> None:
    text = "use AKIA2E0A8F3B244C9986 and wait"
    with one_output():
        shown, marks = masked_with(text, [(0, 3), (6, 12), (0, 30), (25, 28)])
        assert [shown[start:end] for start, end in marks] == [
            "use", "[secret 1: aws key]", "use [secret 1: aws key] and w", "and",
        ]  # fmt: skip
        assert masked_value(("a", 1, None, {2: text})) == ["a", 1, None, {2: "use [secret 1: aws key] and wait"}]


@pytest.mark.parametrize(
    "unit",
    [
        "-eyJ",
        "eyJaaaaaaaaaaaa.eyJ-",
        "password: ",
        'password="',
        "password=a.",
        "<input value='",
        "type='password' ",
        "password\n",
        "identified by '",
        "sk-",
        "password=",
        "a://:",
        "-----BEGIN PRIVATE KEY-----",
        "--token ",
        "SG.",
        "://",
        "login ",
        "mysql ",
        "cookie: a=b;",
        "-u a:",
        "curl -u a:",
        "zip -P",
        "mongo -p",
        "password = ",
        "PASSWORD=",
        "api_key: ",
        "api_key\nvalue",
        "--a-password ",
        "_PWD=",
        "-pass pass:",
    ],
)
def test_a_hostile_text_takes_no_longer_than_its_length_warrants(unit: str) -> None:
    from time import process_time

    began = process_time()
    find(unit * (400_000 // len(unit)))
    assert process_time() - began < 3


@given(SEEDS)
@settings(max_examples=5)
def test_the_tier_source_and_the_standard_library_know_the_same_shapes(seed: int) -> None:
    policy = parse_policy("policy p\nuse std.secrets\nstatement s: abs(shows_secret)")
    for each in samples(seed):
        event = Event.of("say", {"text": each.text}, id="e1", output=each.text)
        score = SecretText().score(Seen("r", pending=[event]))
        certainty = find(each.text)[0].shape.certainty
        assert score == certainty, each.kind
        # What a name or an address around it makes a secret is none by its own form.
        if certainty >= 0.9:
            assert not verify(policy, Trace((event,))).safe, each.kind


# --- verbs ---------------------------------------------------------------------------------------------------------

POLICY = """
policy keeps
use std.secrets

/// What is run fails. {secret}
@source("SKILL.md", "{secret}")
@message("`{x}` must fail")
statement fails: resp(Bash(command = x), Bash(command = x and status = error))

statement quiet: abs(shows_secret or Bash(command ~ "*{plain}*" and flg = 1))
"""
REPORTS = ("human", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson")


def recording(of: list[Sample], path: Path) -> None:
    long = "and more words " * 30
    lines: list[dict[str, object]] = [{"vigil_trace": 1, "run": of[1].text, "cwd": f"/work/{of[2].text}"}]
    for at, each in enumerate(of, 1):
        other = of[at % len(of)].text
        lines.append({
            "event": f"e{at}", "action": "Bash", "status": "ok" if at % 3 else "error",
            "args": {"command": f"{long[: at * 17]} {each.text} {long[: at * 11]} {other}", each.text: [1, other]},
            "output": f"{long}{each.text}\n{other}",
        })  # fmt: skip
        lines.append({"event": f"m{at}", "action": "user.message", "args": {"text": f"{long[: at * 23]}{each.text}"}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("seed", [1, 2])
def test_no_verb_shows_a_secret_and_masking_changes_no_verdict(seed: int, tmp_path: Path) -> None:
    of = samples(seed)
    run, policy, broken = tmp_path / "run.jsonl", tmp_path / "keeps.vgl", tmp_path / "broken.jsonl"
    recording(of, run)
    broken.write_text(json.dumps({"action": of[3].text, "args": [of[4].text]}) + "\n{" + of[5].text, encoding="utf-8")
    quoted = of[6].text.replace('"', "")
    text = POLICY.replace("{secret}", quoted).replace("{plain}", of[7].text)
    policy.write_text(text, encoding="utf-8")
    calls = [
        *(["verify", policy, run, "--format", each] for each in REPORTS),
        *(["verify", policy, broken, "--format", each] for each in ("human", "sarif", "junit", "concise")),
        *(["replay", policy, run, "--format", each] for each in ("human", "concise", "json", "junit")),
        *(["check", policy, "--trace", run, "--format", each] for each in REPORTS),
        *(["lint", policy, "--isolated", "--format", each] for each in ("human", "sarif", "gitlab", "json", "rdjson")),
        ["lint", policy, "--isolated", "--diff"],
        ["verify", "--follow", "--idle-timeout", "0.05", policy, run, "--format", "json"],
        ["verify", "--follow", "--idle-timeout", "0.05", policy, run, "--format", "concise"],
        ["abstract", run],
        ["abstract", run, "--explain"],
        ["abstract", run, "--stats"],
        ["abstract", run, "--stats", "--format", "json"],
        ["abstract", run, "--signature"],
        ["signature", run],
        ["signature", run, "--format", "json"],
        ["compile", policy, "--trace", run, "--statement", "fails"],
    ]
    statuses = []
    for width in ("80", "120"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", width)
            for call in calls if width == "80" else calls[:1] + calls[-9:]:
                result = called(*call)
                if width == "80":
                    statuses.append(result.status)
                assert result.status < 3, (call, result.err)
                shown = result.out + result.err
                assert leaks(shown, of) == [], (call, shown)
                if call[0] in ("verify", "replay") and "json" in call:
                    assert told(called(*call, "--show-secrets")) == told(result)
    for call, status in zip(calls, statuses, strict=True):
        if call[0] != "lint" or "--diff" not in call:
            assert called(*call, "--show-secrets").status == status


def told(result: Result) -> object:
    """What an answer says beside texts: verdicts, events, indexes, decisions."""

    def bare(value: object) -> object:
        match value:
            case dict():
                skipped = ("seconds", "microseconds", "message", "why", "bindings", "path", "about", "owed")
                return {name: bare(each) for name, each in value.items() if name not in skipped}
            case list():
                return [bare(each) for each in value]
        return value

    return result.status, [bare(json.loads(line)) for line in result.out.splitlines()]


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_fingerprints_are_those_of_the_texts_as_they_are(form: str, tmp_path: Path) -> None:
    of = samples(5)
    run, policy = tmp_path / "run.jsonl", tmp_path / "keeps.vgl"
    recording(of, run)
    policy.write_text(POLICY.replace("{secret}", "x").replace("{plain}", of[7].text), encoding="utf-8")
    both = [called("verify", policy, run, "--format", form, *more).out for more in ([], ["--show-secrets"])]
    assert both[0] != both[1]
    marks = [re.findall(r'"(?:vigil/v1|fingerprint|primaryLocationLineHash)": ?"([^"]+)"', each) for each in both]
    assert marks[0] == marks[1] != []


def test_what_other_verbs_read_keeps_its_meaning(tmp_path: Path) -> None:
    of = samples(6)
    run, policy, kept = tmp_path / "run.jsonl", tmp_path / "keeps.vgl", tmp_path / "kept.jsonl"
    recording(of, run)
    policy.write_text(POLICY.replace("{secret}", "x").replace("{plain}", "y"), encoding="utf-8")
    assert called("abstract", run, "-o", kept).status == 0
    judged = [told(called("verify", policy, each, "--format", "json")) for each in (run, kept)]
    assert judged[0] == judged[1]
    assert called("abstract", run, "--show-secrets").out == kept.read_text(encoding="utf-8")
    # On the screen it is masked; whoever pipes it on is told so, and with --strict it fails.
    shown = called("abstract", run).out
    piped = called("verify", policy, "-", "--format", "concise", "--strict", stdin=shown.encode())
    assert "calls are not wholly seen" in piped.err
    assert '"unresolved":["masked"]' in shown
    assert called("signature", run, "-o", tmp_path / "s.json").status == 0
    assert leaks((tmp_path / "s.json").read_text(encoding="utf-8"), of) != []


def test_a_fix_that_would_write_a_mask_is_not_given(tmp_path: Path) -> None:
    key = samples(9)[1].text.split()[1]
    policy = tmp_path / "a.vgl"
    written = f'policy a\nstatement s: abs(Bash(command ~ "{key}") and not not Bash(path = "{key}"))'
    policy.write_text(written, encoding="utf-8")
    for form in ("json", "sarif", "rdjson"):
        fixes = [re.findall(r'"edits":|"insertedContent":|"suggestions":', called(*each).out) for each in (
            ("lint", policy, "--isolated", "--format", form),
            ("lint", policy, "--isolated", "--format", form, "--show-secrets"),
        )]  # fmt: skip
        assert len(fixes[0]) < len(fixes[1])


def test_a_trace_that_has_no_secret_is_the_same_on_the_screen_and_in_a_file(tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    run.write_text(
        '{"action":"Bash","args":{"command":"echo the key is a secret token","n":[1,2]}}\n', encoding="utf-8"
    )
    kept = tmp_path / "kept.jsonl"
    called("abstract", run, "-o", kept)
    assert called("abstract", run).out == kept.read_text(encoding="utf-8")


def test_what_an_option_is_given_is_masked_under_its_name_and_among_the_words() -> None:
    """A step of a command line has its secrets in roles and in `argv`, without what stood before them."""
    step = {
        "u": "ann:Zx8Yw7Vu6T",
        "user": "ann:Qx8Yw7Vu6T",
        "b": "session=Zx8Yw7Vu6Ts5Rq4Po3NmLk2Ji1",
        "argv": ["mysql", "-uroot", "-pZx8Yw7Vu6Q", "books"],
        "words": ["sshpass", "-p", "Zx8Yw7Vu6R", "ssh", "host"],
    }
    with one_output():
        shown = json.dumps(masked_value(step))
    assert not re.search(r"8Yw7|Rq4Po", shown)
    assert [word in shown for word in ("ann:", "session=", "-uroot", "books", "sshpass", "host")] == [True] * 6


NAMED = """\
policy named

statement password: abs(mysql(password = x))
statement letter: abs(mysql(p = x))
statement word: abs(process.run(argv = x)) where x ~ "-p*"
statement variable: abs(psql(PGPASSWORD = x))
statement often: atmost[1](process.run(), distinct argv)
"""
BY_NAME = "Zx8Yw7Vu6Ts5"


WORD = "swordfish"


@pytest.mark.parametrize(
    ("secret", "command"),
    [
        (BY_NAME, f"mysql -u root -p{BY_NAME} -e 'select 1'; PGPASSWORD={BY_NAME} psql"),
        (WORD, f"mysql -u root --password={WORD} -e 'select 1'; PGPASSWORD={WORD} psql"),
        (
            WORD,
            f"mysql --password '{WORD}'; python3 -c 'f(password=\"{WORD}\")';"
            f" echo '<password>{WORD}</password>' > a.xml",
        ),
    ],
)
def test_a_value_that_its_name_tells_is_a_secret_is_masked_where_it_stands_without_the_name(
    secret: str, command: str, tmp_path: Path
) -> None:
    run, policy = tmp_path / "run.jsonl", tmp_path / "named.vgl"
    line = {"type": "assistant", "uuid": "a", "sessionId": "s", "cwd": "/repo", "timestamp": "2026-01-01T00:00:00Z"}
    content = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}]
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "1"}]
    lines = [
        {**line, "message": {"role": "assistant", "content": content}},
        {**line, "type": "user", "uuid": "b", "message": {"role": "user", "content": result}},
    ]
    run.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    policy.write_text(NAMED, encoding="utf-8")
    calls: list[list[object]] = [
        *(["verify", policy, run, "--format", each] for each in REPORTS),
        *(["verify", "--follow", "--idle-timeout", "0.05", policy, run, "--format", e] for e in ("human", "json")),
        *(["replay", policy, run, "--format", each] for each in ("human", "concise", "json", "junit", "markdown")),
        *(["scan", policy, run, "--format", each] for each in ("human", "json", "csv", "markdown", "html")),
        *(["signature", run, "--format", each] for each in ("human", "json")),
        *(["compile", policy, "--trace", run, "--statement", each] for each in ("letter", "word")),
        ["abstract", run, "--explain"],
    ]
    for arguments in calls:
        result_of = called(*arguments)
        assert secret not in result_of.out + result_of.err, arguments
        assert result_of.status in (0, 1), (arguments, result_of.err)
