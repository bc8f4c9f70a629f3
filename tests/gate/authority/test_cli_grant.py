"""`vigil key` and `vigil grant`: what they write, print and refuse, and their exit statuses."""

from __future__ import annotations

import json
import stat
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.cli_support import Result, called
from tests.gate.authority.made_chains import AUDIENCE, GRANTS, NOW, OTHER, ROOT, made
from vigil_lang.gate.authority.chain import verify_chain
from vigil_lang.gate.authority.keys import write_key

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with keys, a home of its own, and nothing said by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("VIGIL_STATE", str(tmp_path / "state"))
    for name in ("VIGIL_KEY", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    write_key(ROOT, "root.pem")
    for place in range(3):
        write_key(made(3).holders[place], f"{place}.pem")
    return tmp_path


def grant(*args: str) -> Result:
    return called("grant", *args)


def issued(*args: str) -> Result:
    return grant("--allow", GRANTS[0], "--for", "8h", "--aud", AUDIENCE, "--key", "root.pem", *args)


# --- keys ----------------------------------------------------------------------------------------------------------


def test_a_new_key_is_written_and_its_public_half_printed(folder: Path) -> None:
    result = called("key", "new", "a.pem")
    assert (result.status, result.err) == (0, "")
    assert stat.S_IMODE((folder / "a.pem").stat().st_mode) == 0o600
    assert called("key", "show", "a.pem").out == result.out
    assert called("key", "show", result.out.strip()).out == result.out
    again = called("key", "new", "-o", "a.pem")
    assert (again.status, again.out) == (2, "")
    assert "VGL004" in again.err
    assert called("key", "new", "a.pem", "--force").status == 0
    assert called("key", "show", "a.pem").out != result.out


def test_your_own_key_needs_no_name(folder: Path) -> None:
    assert called("key", "show").status == 2
    made_key = called("key", "new", "--format", "json")
    told = json.loads(made_key.out)
    assert told["schema"] == "vigil.key/1"
    assert told["path"] == str(folder / "configuration" / "vigil" / "key.pem")
    assert called("key", "show").out == told["public"] + "\n"
    assert called("key", "new").status == 2


def test_a_private_key_goes_where_it_is_sent_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    result = called("key", "new", "-o", "-")
    assert result.out.startswith("-----BEGIN PRIVATE KEY-----\n")
    monkeypatch.setenv("VIGIL_KEY", result.out)
    assert called("key", "show").out == result.err
    for verb in (("key", "new", "b.pem"), ("key", "show"), ("key", "show", "b.pem")):
        shown = called(*verb)
        assert "PRIVATE" not in shown.out + shown.err


def test_a_key_is_shown_from_a_command() -> None:
    assert called("key", "show", "--key-command", "cat root.pem").out == f"{ROOT.public}\n"
    assert called("key", "show", "root.pem", "--key-command", "cat root.pem").status == 2
    assert called("key", "new", "a", "-o", "b").status == 2


# --- granting ------------------------------------------------------------------------------------------------------


def test_a_chain_is_issued_narrowed_shown_and_checked() -> None:
    assert issued("--to", "0.pem", "--depth", "2", "-o", "one.json") == Result(0, "", "")
    second = grant(
        "--to", made(3).holders[1].public, "--allow", 'net.request(url ~ "https://example.com/a/*")', "--for", "1h",
        "--from", "one.json", "--key", "0.pem", "--calls", "5", "--per", "day", "-o", "two.json",
    )  # fmt: skip
    assert second == Result(0, "", "")
    result = grant("check", "two.json", "--root", "root.pem", "--aud", AUDIENCE, "--format", "json")
    found = json.loads(result.out)
    assert result.status == 0
    assert found["schema"] == "vigil.grant/1"
    assert (found["problems"], found["findings"]) == ([], [])
    assert found["grants"] == [GRANTS[0], 'net.request(url ~ "https://example.com/a/*")']
    assert found["authority_digest"] == found["links"][1]["id"]
    assert found["links"][1]["limits"] == {"calls": 5, "until": found["links"][1]["exp"], "per": "day"}
    assert found["holder"] == made(3).holders[1].public
    shown = grant("show", "two.json")
    assert shown.status == 0
    assert "5 calls a day" in shown.out
    assert "any number of calls" in shown.out
    human = grant("check", "two.json", "--root", ROOT.public, "--aud", AUDIENCE)
    assert human.out.startswith("the chain counts until 20")


def test_a_chain_goes_to_standard_output_and_reads_back() -> None:
    result = issued("--to", "0.pem")
    chain = verify_chain(result.out.encode(), {ROOT.public}, AUDIENCE, int(time.time()))
    assert chain.problems == ()
    assert chain.links[0].payload.depth == 0


def test_the_audience_is_the_origin_of_the_log_in_the_state_folder(folder: Path) -> None:
    args = ("--to", "0.pem", "--allow", GRANTS[0], "--for", "1h", "--key", "root.pem", "-o", "c.json")
    refused = grant(*args)
    assert refused.status == 2
    assert "--aud says which gate it is for" in refused.err
    (folder / "state").mkdir()
    (folder / "state" / "log.vkey").write_text(f"{AUDIENCE}+01234567+AAAA\n")
    assert grant(*args).status == 0
    assert grant("check", "c.json", "--root", "root.pem").status == 0


def test_details_are_granted(folder: Path) -> None:
    (folder / "d.json").write_text('[{"type": "file", "actions": ["read"], "path": "/a"}]')
    args = ("--to", "0.pem", "--for", "1h", "--aud", "a", "--key", "root.pem")
    assert grant(*args, "--details", "d.json", "-o", "c.json").status == 0
    assert json.loads(grant("show", "c.json", "--format", "json").out)["grants"] == ['file.read("path" = "/a")']
    (folder / "d.json").write_text('[{"type": "file", "privileges": ["x"]}]')
    refused = grant(*args, "--details", "d.json")
    assert refused.status == 2
    assert "error[VGL641]" in refused.err
    assert grant(*args, "--details", "d.json", "--allow", "a()").status == 2
    assert "VGL001" in grant(*args, "--details", "none.json").err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--to", "0.pem"], "A grant needs"),
        (["--to", "0.pem", "--allow", "a()", "--for", "8"], "is not a duration such as"),
        (["--to", "0.pem", "--allow", "a()", "--for", "0h"], "is not a duration such as"),
        (["--to", "0.pem", "--allow", "a()", "--for", "99999d"], "is not a duration such as"),
        (["--to", "0.pem", "--allow", "a()", "--for", "٣h"], "is not a duration such as"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--per", "day"], "give both"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--depth", "8"], "0<=x<=7"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--calls", "-1"], "x>=0"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--aud", ""], "--aud takes"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--aud", "a\u202eb"], "--aud takes"),
        (["--to", "0.pem", "--allow", "a(", "--for", "1h"], "<grant>:1:3"),
        (["--to", "0.pem", "--allow", "", "--for", "1h"], "the grant is empty"),
        (["--to", "spiffe://x/y", "--allow", "a()", "--for", "1h"], "SPIFFE"),
        (["--to", "none.pem", "--allow", "a()", "--for", "1h"], "VGL001"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--key", "none.pem"], "VGL001"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--from", "none.json"], "VGL001"),
        (["--to", "0.pem", "--allow", "a()", "--for", "1h", "--from", "0.pem"], "it is no JSON"),
        (["show"], "Missing argument"),
        (["show", "none.json"], "VGL001"),
        (["check", "none.json", "--root", "root.pem", "--aud", "a"], "VGL001"),
        (["check", "root.pem", "--aud", "a"], "Missing option '--root'"),
        (["check", "root.pem", "--root", "root.pem", "--aud", "a", "--at", "noon"], "--at takes POSIX seconds"),
        (["check", "root.pem", "--root", "none", "--aud", "a"], "VGL001"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(args: list[str], message: str) -> None:
    key = ["--key", "root.pem"] if args[0] == "--to" and "--key" not in args else []
    aud = ["--aud", AUDIENCE] if args[0] == "--to" and "--aud" not in args else []
    result = grant(*args, *key, *aud)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--key", "root.pem"], "only its holder can narrow this chain"),
        (["--key", "0.pem", "--depth", "1"], "lets links of depth 0 at most follow"),
        (["--key", "0.pem", "--aud", "elsewhere"], "for one audience"),
    ],
)
def test_a_chain_is_narrowed_by_its_holder_as_it_may_be(args: list[str], message: str) -> None:
    issued("--to", "0.pem", "--depth", "1", "-o", "one.json")
    result = grant("--to", "1.pem", "--allow", "a()", "--for", "1h", "--from", "one.json", *args)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_chain_that_may_not_be_passed_on_is_not() -> None:
    issued("--to", "0.pem", "-o", "one.json")
    result = grant("--to", "1.pem", "--allow", "a()", "--for", "1h", "--from", "one.json", "--key", "0.pem")
    assert "this chain lets no link follow" in result.err


def test_a_chain_grows_no_longer_and_no_larger_than_chains_may_be(folder: Path) -> None:
    now = int(time.time())

    def stored(links: int, grant: str) -> None:
        chain = made(links)
        for payload in chain.payloads:
            payload.update(nbf=0, exp=now + 1000, depth=payload["depth"] + 1, grant=grant)
        chain.again(0)
        (folder / "c.json").write_bytes(chain.file())
        write_key(chain.holders[-1], "last.pem", force=True)

    args = ("--to", "1.pem", "--for", "1h", "--from", "c.json", "--key", "last.pem")
    stored(8, "a()")
    assert "a chain has at most 8 links" in grant(*args, "--allow", "a()").err
    stored(1, "a() // " + "x" * 20_000)
    assert grant(*args, "--allow", "a()").status == 0
    assert "would have more than 65,536 bytes" in grant(*args, "--allow", "a() // " + "x" * 30_000).err


def test_a_chain_may_count_for_ever(folder: Path) -> None:
    chain = made(1)
    chain.payloads[0]["exp"] = chain.payloads[0]["limits"]["until"] = 2**53 - 1
    chain.again(0)
    (folder / "c.json").write_bytes(chain.file())
    assert "to 9007199254740991" in grant("show", "c.json").out


def test_a_chain_that_does_not_count_is_not_narrowed(folder: Path) -> None:
    chain = made(1)
    chain.payloads[0]["exp"] = 5
    chain.again(0)
    (folder / "old.json").write_bytes(chain.file())
    result = grant("--to", "1.pem", "--allow", "a()", "--for", "1h", "--from", "old.json", "--key", "0.pem")
    assert (result.status, result.out) == (2, "")
    assert "error[VGL641]: link 0: it has not counted since 5" in result.err


# --- what is said --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allow", "message"),
    [
        (GRANTS[0], None),
        ('action ~ "net.*"', "this grant allows all of net.*"),
        ('action ~ "*"', "this grant allows everything"),
        ("not x() or x()", "this grant allows everything"),
        ('file.read(path = "a" and not path = "a")', "this grant allows nothing: no call meets it"),
    ],
)
def test_what_may_not_be_meant_is_said(allow: str, message: str | None) -> None:
    result = grant("--to", "0.pem", "--allow", allow, "--for", "1h", "--aud", "a", "--key", "root.pem", "-o", "c.json")
    assert result.status == 0
    if message is None:
        assert result.err == ""
    else:
        assert f"warning[VGL642]: {message}" in result.err
    checked = json.loads(grant("check", "c.json", "--root", "root.pem", "--aud", "a", "--format", "json").out)
    assert [found["message"] for found in checked["findings"]] == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("allow", "message"),
    [
        ('net.request(url ~ "https://example.com/a/*")', None),
        ("net.request()", "already implied by the parent's"),
        ('net.request(url ~ "https://*")', "already implied by the parent's"),
        ('net.request(url = "http://other/")', "with the grants before it, this grant allows nothing"),
    ],
)
def test_what_a_grant_is_in_the_light_of_its_parent(allow: str, message: str | None) -> None:
    issued("--to", "0.pem", "--depth", "1", "-o", "one.json")
    result = grant("--to", "1.pem", "--allow", allow, "--for", "1h", "--from", "one.json", "--key", "0.pem")
    assert result.status == 0
    assert (result.err == "") if message is None else (message in result.err)


def test_a_grant_that_outlives_its_chain_says_so() -> None:
    issued("--to", "0.pem", "--depth", "1", "-o", "one.json")
    args = ("--to", "1.pem", "--allow", 'net.request(url = "https://example.com/")', "--from", "one.json")
    result = grant(*args, "--for", "2d", "--key", "0.pem")
    assert result.status == 0
    assert "the chain ends before this grant does, at 20" in result.err


# --- checking ------------------------------------------------------------------------------------------------------


def checked(*args: str) -> tuple[int, dict[str, Any]]:
    result = grant("check", "c.json", "--aud", AUDIENCE, "--format", "json", *args)
    assert result.err == ""
    return result.status, json.loads(result.out)


def test_a_chain_is_checked_at_a_moment_for_roots(folder: Path) -> None:
    (folder / "c.json").write_bytes(made(3).file())
    (folder / "root.pub").write_text(f"{ROOT.public}\n")
    assert checked("--root", "root.pub", "--at", str(NOW))[0] == 0
    assert checked("--root", OTHER.public, "--root", "root.pub", "--at", "2027-01-15T08:00:00Z")[0] == 0
    assert checked("--root", "root.pub", "--at", "2027-01-15T08:00:00")[0] == 0
    status, found = checked("--root", OTHER.public, "--at", str(NOW + 5000))
    assert status == 1
    assert [(each["link"], each["kind"]) for each in found["problems"]] == [
        (0, "expired"), (0, "root"), (1, "expired"), (2, "expired"),
    ]  # fmt: skip
    assert found["grants"] == []
    assert found["authority_digest"] == found["links"][2]["id"]


def test_a_limit_that_is_over_is_a_problem_where_a_chain_is_checked(folder: Path) -> None:
    chain = made(1)
    chain.payloads[0]["limits"]["until"] = NOW
    chain.again(0)
    (folder / "c.json").write_bytes(chain.file())
    status, found = checked("--root", "root.pem", "--at", str(NOW))
    assert (status, found["problems"][0]["kind"], found["grants"]) == (1, "until", [])
    assert checked("--root", "root.pem", "--at", str(NOW - 1))[0] == 0


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b"[" * 9999, b" " * 99999, b'[{"a":1,"a":1}]'])
def test_what_is_no_chain_has_status_2(data: bytes, folder: Path) -> None:
    (folder / "c.json").write_bytes(data)
    status, found = checked("--root", "root.pem")
    assert status == 2
    assert [each["kind"] for each in found["problems"]] == ["format"]
    assert (found["grants"], found["authority_digest"]) == ([], "")
    shown = grant("show", "c.json")
    assert shown.status == 2
    assert shown.out.startswith("the chain: format: ")


def test_a_chain_that_counts_for_nobody_is_shown_as_such(folder: Path) -> None:
    chain = made(2)
    chain.payloads[1]["depth"] = 9
    chain.payloads[1]["grant"] = "a(\x1b[31m"
    chain.again(1)
    (folder / "c.json").write_bytes(chain.file())
    shown = grant("show", "c.json")
    assert shown.status == 1
    assert "link 1: depth:" in shown.out
    assert "\x1b" not in shown.out
    assert grant("check", "c.json", "--root", "root.pem", "--aud", AUDIENCE).status == 1
