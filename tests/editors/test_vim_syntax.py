"""The syntax file for Vim and Neovim knows each keyword of the grammar, where it is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from install import ROOT, Unavailable, find

from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse

if TYPE_CHECKING:
    from pathlib import Path

SYNTAX = ROOT / "lsp" / "editors" / "neovim" / "syntax" / "vigil.vim"

POLICY = """«policy» p
«use» .base: holds
«let» at = 3
«param» who: «text» = "x"
«param» many: «number»
«param» yes: «bool» = «true»
«param» some: «set»
«pattern» run(x) = ‹run›(file = x) «and» «status» = «ok» «or» ‹ok›(‹error› = «false») «and» «status» = «error»
«statement» S1: «abs»(«action» «in» {a} «implies» «not» «has» ‹status.of› «and» «output» «contains» "x")
«statement» S2: «prec»(a(), b()) «after» c() «where» d()
«statement» S3: «resp»(a(), «earlier» b())
«statement» S4: «rslv»(a(), «later» b())
«statement» S5: «until»(a(), b(), c())
«statement» S6: «bresp»[30s](a(), b())
«statement» S7: «atmost»[3](a(), «distinct» file) «in» 20 «calls» «since» b()
«statement» S8: «atleast»[3 «steps»](a())
«statement» S9: «budget»[5](a(), cost)
«statement» T1: «always» (a() «weak» «until» b()) «or» «repeated»[2](a()) «or» list «with» (x = 1)
«statement» T2: «abs»(‹weak› = 1 «and» ‹violated› = «true» «and» ‹at› = 2 «and» ‹hold›())
«statement» T3: «abs»(‹expect› = 3 «and» ‹set› > 4)
«rule» r1: «when» «violates» S1 «then» «hold» «record» to «relaxes» r2
«rule» r2:
  «when» a() «then»
    «pass»
«rule» r3: «when» ‹violates› = "x" «then» «block»
"""
TESTS = """«test» "one" { «set» limit = 3 «run» "a.jsonl" «expect» S1 «violated» «at» e2 «with» x = 1
  «expect» r1 «holds» «at» "e" }
«test» "two" {
  «run» {
    a: send(‹at› = 1): code.call «at» 30s -> «ok» "x"
    ‹run›(‹test› = "x") -> «error»
    ‹expect›: put()
  }
  «expect» S1, S2 «satisfied»
  «expect» S3 «vacuous» «expect» r2 «passes»
  «expect» r3 «blocks»
}
«test» "three" { «calls» «in» "/repo" { a() } «calls» { b() } }
"""
MARKED = re.compile(r"«(.*?)»|‹(.*?)›")
PLAIN = re.compile(r"[«»‹›]")


def words_of_the_grammar() -> set[str]:
    """What terminals are that are words."""
    grammar = (ROOT / "grammar" / "vigil.lark").read_text(encoding="utf-8")
    terminals = re.findall(r"^[A-Z_0-9.]+: (.+)$", grammar, re.MULTILINE)
    return {word for one in terminals for pair in re.findall(r'"([a-z]+)"|^/([a-z]+)\(\?!', one) for word in pair} - {
        ""
    }


def groups(text: str, folder: Path) -> list[list[str]]:
    """The syntax group of each byte of each line."""
    try:
        editor = find("nvim")
    except Unavailable as error:
        vim = shutil.which("vim")
        if vim is None:
            pytest.skip(str(error))
        editor = vim
    source, written = folder / "text", folder / "groups"
    source.write_text(text, encoding="utf-8")
    rows = "map(range(1, line('$')), {_, l -> join(map(range(1, col([l, '$']) - 1), {_, c -> "
    rows += "synIDattr(synID(l, c, 1), 'name')}), ',')})"
    command = [
        str(editor), "-e", "-s", "-u", "NONE", "-i", "NONE", "-c", "set nocompatible encoding=utf-8",
        "-c", f"source {SYNTAX}", "-c", f"call writefile({rows}, '{written}')", "-c", "qall!", str(source),
    ]  # fmt: skip
    subprocess.run(command, cwd=folder, timeout=60, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return [line.split(",") for line in written.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("marked", [POLICY, TESTS], ids=["policy", "tests"])
def test_a_keyword_has_a_colour_and_a_name_has_none(tmp_path: Path, marked: str) -> None:
    plain = PLAIN.sub("", marked)
    assert not [f for f in parse(Source("p_test.vgl", plain)).diagnostics if f.code < "VGL2"]
    found = groups(plain, tmp_path)
    wrong = []
    for number, line in enumerate(marked.splitlines()):
        for one in MARKED.finditer(line):
            at = len(PLAIN.sub("", line[: one.start()]).encode())
            keyword, name = one.groups()
            seen = set(found[number][at : at + len(keyword or name)])
            known = len(seen) == 1 and seen not in ({""}, {"vigilString"}, {"vigilComment"})
            if known != bool(keyword):
                wrong.append((number + 1, keyword or name, seen))
    assert wrong == []


def test_each_keyword_is_tried() -> None:
    tried = {keyword for text in (POLICY, TESTS) for keyword, _ in MARKED.findall(text)}
    assert words_of_the_grammar() - tried == set()
