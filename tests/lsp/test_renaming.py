"""Renaming: every place follows, nothing else changes what it means, and the rest is refused with a reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lsp_completing import read
from written import Project

from tests.strategies import policies
from vigil_lang.diagnostics import Source
from vigil_lang.diagnostics.diagnostic import apply_edits
from vigil_lang.semantics.modules import Access
from vigil_lang.semantics.policy import read_policy
from vigil_lsp.names import Names
from vigil_lsp.renaming import Refused, rename, target

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """policy shop
use std.files: changes
let GOODS = {apple, pear}
let PRICE = 3
param limit: number = 100
pattern buys(x) = pay(order = x, item in GOODS) and changes(y)
pattern free = amount = 0 or coupon = voucher
@message("{x} by {voucher} and {w}")
statement R0: prec(buys(x), amount < limit and free and kind in {buyer, seller})
statement R1: abs(free() and seize(buyer = limit))
"""
TILL = """use .shop: buys, limit
let OTHER = {apple}
statement R0: abs(buys(limit) and f in OTHER)
"""
TESTS = """use .shop
use .till
test "a" {
    set limit = 10
    run { first: pay(order = "A") pay(order = "B") }
    expect shop.R0 violated at first, e2 with x = "M"
    expect till.R0 satisfied
}
test "b" { calls { deal: Bash(command = "ls") } expect R1 violated at deal.1 }
"""
TEXTS = {"shop.vgl": SHOP, "till.vgl": TILL, "all_test.vgl": TESTS}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("renaming"), TEXTS)


def _renamed(project: Project, where: str, new: str) -> dict[str, str]:
    """The files that change, as they are afterwards."""
    name, offset = project.offset(where)
    edits = rename(project.names, project[name], offset, new, project.files.access)
    shown = {path.rpartition("/")[2]: some for path, some in edits.items()}
    return {name: apply_edits(project.texts[name], some) for name, some in sorted(shown.items())}


def _refused(project: Project, where: str, new: str) -> str:
    with pytest.raises(Refused) as caught:
        _renamed(project, where, new)
    return str(caught.value)


def test_across_files(project: Project) -> None:
    assert _renamed(project, "till.vgl: .shop: bu|ys", "takes.over") == {
        "shop.vgl": SHOP.replace("buys(", "takes.over("),
        "till.vgl": TILL.replace("buys", "takes.over"),
    }
    assert _renamed(project, "shop.vgl: amount < |limit", "most") == {
        "all_test.vgl": TESTS.replace("limit", "most"),
        "shop.vgl": SHOP.replace("limit", "most"),
        "till.vgl": TILL.replace("limit", "most"),
    }


def test_a_statement_in_its_tests(project: Project) -> None:
    assert _renamed(project, "all_test.vgl: shop.R|0", "paid_first") == {
        "all_test.vgl": TESTS.replace("shop.R0", "shop.paid_first"),
        "shop.vgl": SHOP.replace("R0", "paid_first"),
    }


def test_a_policy_line(project: Project) -> None:
    assert _renamed(project, "shop.vgl: policy |shop", "store") == {
        "all_test.vgl": TESTS.replace("shop.R0", "store.R0"),
        "shop.vgl": SHOP.replace("policy shop", "policy store"),
    }


def test_a_variable_in_message_patterns_and_tests(project: Project) -> None:
    assert _renamed(project, "shop.vgl: prec(buys(|x", "order_id") == {
        "all_test.vgl": TESTS.replace("with x", "with order_id"),
        "shop.vgl": SHOP.replace("{x}", "{order_id}").replace("prec(buys(x)", "prec(buys(order_id)"),
    }
    assert _renamed(project, "shop.vgl: {v|oucher}", "v") == {"shop.vgl": SHOP.replace("voucher", "v")}
    # `y` is free in a pattern that two files apply.
    assert _renamed(project, "shop.vgl: changes(|y)", "yy") == {"shop.vgl": SHOP.replace("(y)", "(yy)")}


def test_a_variable_that_where_and_a_comparison_name() -> None:
    text = 'statement S: abs(send(url:host = h, n >= h)) where h:lower not in {a} and "h" != h\n'
    reading = read(text)
    edits = rename(Names([reading]), reading, text.index("h, n"), "to", Access())
    renamed = text.replace("= h,", "= to,").replace(">= h", ">= to").replace("where h", "where to")
    assert apply_edits(text, edits[reading.source.path]) == renamed.replace('"h" != h', '"to" != to')


def test_a_parameter(project: Project) -> None:
    assert _renamed(project, "shop.vgl: pattern buys(|x", "y2") == {
        "shop.vgl": SHOP.replace("pattern buys(x) = pay(order = x", "pattern buys(y2) = pay(order = y2")
    }


def test_events(project: Project) -> None:
    assert _renamed(project, "all_test.vgl: at |first", "one") == {"all_test.vgl": TESTS.replace("first", "one")}
    assert _renamed(project, "all_test.vgl: deal|.1", "d") == {"all_test.vgl": TESTS.replace("deal", "d")}


def test_the_same_name_changes_nothing(project: Project) -> None:
    assert _renamed(project, "shop.vgl: let |GOODS", "GOODS") == {}


def test_what_is_not_ours_to_name(project: Project) -> None:
    def refused(where: str) -> str:
        name, offset = project.offset(where)
        with pytest.raises(Refused) as caught:
            target(project.names, project[name], offset)
        return str(caught.value)

    assert refused("shop.vgl: std.files: ch|anges") == "`changes` belongs to the standard library"
    assert refused("shop.vgl: and ch|anges(y)") == "`changes` belongs to the standard library"
    assert refused("till.vgl: use |.shop") == "a module is called like its file: rename the file"
    assert refused("all_test.vgl: |till.R0") == "a module is called like its file: rename the file"
    assert (
        refused("shop.vgl: = p|ay(") == "`pay` is the name of an action, or of a kind of actions: it is called as "
        "the runs call it"
    )
    assert refused("shop.vgl: (or|der = x") == "`order` is an argument of recorded calls: it is called as they call it"
    assert refused("shop.vgl: {apple, |pear}") == "`pear` is nothing that a policy names"
    assert refused("shop.vgl: |let GOODS") == "`let` is nothing that a policy names"
    assert refused("shop.vgl: amount |< limit") == "there is no name here"
    assert refused("all_test.vgl: first, |e2") == (
        "the event has no name of its own: write one before it, as in `first: e2(…)`"
    )


def test_names_that_are_none(project: Project) -> None:
    for new in ("", "1a", "a b", "a..b", "é", "a-", "x\n", '"x"', "a" + "\u200b"):
        assert _refused(project, "shop.vgl: let |GOODS", new).startswith("a name is letters, digits"), new
    for new in ("action", "not", "prec", "statement", "true"):
        assert _refused(project, "shop.vgl: let |GOODS", new) == f"`{new}` is a word of the language"


def test_names_that_are_taken(project: Project) -> None:
    assert _refused(project, "shop.vgl: let |GOODS", "PRICE") == "`PRICE` is declared already in shop.vgl"
    assert _refused(project, "shop.vgl: pattern |buys", "changes") == "`changes` is imported already in shop.vgl"
    assert _refused(project, "shop.vgl: pattern |buys", "OTHER") == "`OTHER` is declared already in till.vgl"
    assert (
        _refused(project, "shop.vgl: statement |R0", "R1") == "there is already a statement `R1`, in shop.vgl, line 10"
    )
    assert _refused(project, "shop.vgl: prec(buys(|x", "voucher") == (
        "there is already a variable `voucher`, in shop.vgl, line 8"
    )
    assert (
        _refused(project, "all_test.vgl: |first: ", "e2") == "there is already an event `e2`, in all_test.vgl, line 5"
    )


def test_words_that_would_mean_something_else(project: Project) -> None:
    elsewhere = "would mean something else"
    assert _refused(project, "shop.vgl: let |PRICE", "apple") == f"`apple` in shop.vgl, line 3 {elsewhere}"
    assert _refused(project, "shop.vgl: let |PRICE", "voucher") == f"`voucher` in shop.vgl, line 7 {elsewhere}"
    assert _refused(project, "shop.vgl: pattern |free", "seize") == f"`seize` in shop.vgl, line 10 {elsewhere}"
    assert _refused(project, "shop.vgl: param |limit", "seller") == f"`seller` in shop.vgl, line 9 {elsewhere}"
    # A variable that would be the declared value, and one that the message only seemed to show.
    assert _refused(project, "shop.vgl: prec(buys(|x", "GOODS").endswith(elsewhere)
    assert _refused(project, "shop.vgl: prec(buys(|x", "w") == "there is already a variable `w`, in shop.vgl, line 8"
    # A set of another file in the project, which imports everything, or by name.
    assert _refused(project, "shop.vgl: param |limit", "apple") == f"`apple` in shop.vgl, line 3 {elsewhere}"
    assert _refused(project, "shop.vgl: pattern buys(|x", "GOODS").endswith(elsewhere)


def test_a_param_that_the_configuration_sets(tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.vgl": "param n: number\nstatement S: abs(f > n)\n"}, {"n": 3})
    assert _refused(project, "a.vgl: param |n", "m") == "the configuration gives `n` its value by this name"


def test_a_param_that_would_be_set_by_the_configuration(tmp_path: Path) -> None:
    text = "param n: number = 1\nstatement S: abs(f > n)\n"
    project = Project(tmp_path, {"a.vgl": text}, {"m": 3})
    assert _refused(project, "a.vgl: param |n", "m") == "statement `S` in a.vgl would mean something else"


def test_a_setting_of_two_params(tmp_path: Path) -> None:
    texts = {
        "a.vgl": "param n: number = 1\nstatement S: abs(f > n)\n",
        "b.vgl": "param n: number = 1\nstatement T: abs(f > n)\n",
        "c_test.vgl": 'use .a\nuse .b\ntest "t" { set n = 2 run { } expect S, T satisfied }\n',
    }
    project = Project(tmp_path, texts)
    assert _refused(project, "a.vgl: param |n", "m") == "`n` names several things in c_test.vgl, line 3"
    assert (
        _refused(project, "c_test.vgl: set |n", "m") == "`n` names several things here: rename one where it is declared"
    )


def test_a_broken_file_is_renamed_where_it_can_be_read(tmp_path: Path) -> None:
    text = "pattern p(x) = f = x\nstatement A: abs(g(f, p( p = {p\nstatement B: abs(p(y))\n"
    project = Project(tmp_path, {"a.vgl": text})
    after = "pattern q(x) = f = x\nstatement A: abs(g(f, q( p = {p\nstatement B: abs(q(y))\n"
    assert _renamed(project, "a.vgl: abs(|p", "q") == {"a.vgl": after}
    assert _refused(project, "a.vgl: abs(|p", "f") == "`f` in a.vgl, line 2 would mean something else"


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(policies.policies(), st.data())
def test_no_requirement_changes(tmp_path: Path, text: str, data: st.DataObject) -> None:
    project = Project(tmp_path, {"a.vgl": text})
    reading = project["a.vgl"]
    assume(not reading.policy.errors)
    words = [m.start() for m in re.finditer(r"\w+", text) if project.names.at(project.path("a.vgl"), m.start())]
    assert words  # the statement's own name, at least
    offset = data.draw(st.sampled_from(words))
    mention = project.names.at(project.path("a.vgl"), offset)[0]
    edits = rename(project.names, reading, offset, "fresh.name", project.files.access)
    after = read_policy(Source(reading.source.path, apply_edits(text, edits[reading.source.path])))
    assert "fresh.name" in after.module.source.text
    assert not after.errors
    before = [s.requirement for s in reading.policy.statements]
    if mention.symbol.kind == "variable":
        assert [s.variables for s in before] == [
            tuple(mention.symbol.name if v == "fresh.name" else v for v in s.requirement.variables)
            for s in after.statements
        ]
    else:
        assert [s.requirement for s in after.statements] == before


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policies.policies(), st.sampled_from(["M", "x", "y", "f", "g", "a", "VALS", "word", "k", "S", "named"]), st.data()
)
def test_a_name_that_is_there_is_refused_or_changes_nothing(
    tmp_path: Path, text: str, new: str, data: st.DataObject
) -> None:
    project = Project(tmp_path, {"a.vgl": text})
    reading = project["a.vgl"]
    assume(not reading.policy.errors)
    words = [m.start() for m in re.finditer(r"\w+", text) if project.names.at(project.path("a.vgl"), m.start())]
    offset = data.draw(st.sampled_from(words))
    mention = project.names.at(project.path("a.vgl"), offset)[0]
    assume(mention.symbol.kind != "variable")
    try:
        edits = rename(project.names, reading, offset, new, project.files.access)
    except Refused:
        return
    after = read_policy(Source(reading.source.path, apply_edits(text, edits.get(reading.source.path, []))))
    assert [s.requirement for s in after.statements] == [s.requirement for s in reading.policy.statements]
