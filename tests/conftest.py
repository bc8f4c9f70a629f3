"""What all tests share: which of them are slow, and which are measured for coverage, which doubles the time they take.

Slow are tests that start many processes, build or install something, drive editors, try generated cases or inputs as
large as can be: those of `SLOW`, those that Hypothesis runs, and those marked `slow`. `make quick` leaves them out.

Each line must be reached by a test that says what it does; what only a generated case reaches does not count. Nor does
what a process reaches that a test starts, for a measured one takes three times as long, but where no test reaches it
without: such tests, a few, are marked `@pytest.mark.processes`, and end what they start so that it tells. Tests of
the language server, of editors, of actions, of the installed copy and of what attackers can do look from outside, those
that compare engines look at runs made at random, those of limits at inputs as large as can be, and some say of very
many cases what a few show: they are not measured either, by file in `UNMEASURED` or by `@pytest.mark.unmeasured`. Nor
are slow tests that reach nothing but what others reach: `make unmeasured` finds them and writes `unmeasured.txt`.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

import vigil_lang

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _typeshed import TraceFunction

    _Traces = tuple[TraceFunction | None, TraceFunction | None]

HERE = Path(__file__).parent
SLOW = {
    "abstraction/catalogue/test_catalogue_files.py",
    "abstraction/scripts/test_scripts_limits.py",
    "abstraction/scripts/test_scripts_unseen.py",
    "abstraction/shell/test_shell_limits.py",
    "abstraction/test_abstraction_hostile.py",
    "abstraction/test_unseen_commands.py",
    "ci",
    "cli/test_cli_limits.py",
    "cli/test_cli_lsp.py",
    "cli/test_cli_outputs.py",
    "cli/test_cli_process.py",
    "differential",
    "draft",
    "e2e",
    "editors",
    "examples/test_examples_skills.py",
    "examples/test_transparency.py",
    "gate/authority/test_chains.py",
    "gate/decide/test_decide_properties.py",
    "gate/holds/test_hold_model.py",
    "gate/holds/test_hold_processes.py",
    "gate/log/test_tampering.py",
    "gate/test_gate_crashes.py",
    "grammar/test_tree_sitter.py",
    "grammar/test_tree_sitter_cli.py",
    "ingest/test_ingest_properties.py",
    "lint/test_fixes_are_sound.py",
    "lint/test_new_rule.py",
    "lsp",
    "packaging",
    "points/daemon/test_daemon_kills.py",
    "report/test_report_verbs.py",
    "security",
    "semantics/test_automaton.py",
    "semantics/test_expansion_limits.py",
    "semantics/test_fixes.py",
    "syntax/test_limits.py",
    "syntax/test_memory.py",
    "testing/test_mutate_mutants.py",
    "testing/test_mutate_score.py",
}
"""Folders and modules whose tests are slow."""
UNMEASURED = {
    "abstraction/scripts/test_scripts_limits.py",
    "abstraction/shell/test_shell_limits.py",
    "abstraction/test_abstraction_hostile.py",
    "benchmarks/test_benchmarks.py",
    "ci",
    "cli/test_cli_empty.py",
    "differential",
    "draft/test_draft_injection.py",
    "e2e",
    "editors",
    "enforce/test_run_snapshots.py",
    "evaluation/test_eval_page.py",
    "examples/test_examples_gold.py",
    "examples/test_examples_runs.py",
    "examples/test_examples_skills.py",
    "examples/test_examples_team.py",
    "examples/test_transparency.py",
    "gate/decide/test_decide_contract.py",
    "gate/decide/test_decide_properties.py",
    "gate/holds/test_hold_model.py",
    "gate/holds/test_hold_processes.py",
    "gate/log/test_tampering.py",
    "gate/test_gate_crashes.py",
    "grammar/test_tree_sitter.py",
    "grammar/test_tree_sitter_cli.py",
    "ingest/test_ingest_properties.py",
    "lint/test_cited_sentences.py",
    "lint/test_fixes_are_sound.py",
    "lint/test_forms.py",
    "lint/test_new_rule.py",
    "lsp",
    "packaging",
    "points/daemon/test_daemon_kills.py",
    "points/install/test_hook_faults.py",
    "points/install/test_wrapper.py",
    "security",
    "semantics/test_automaton.py",
    "semantics/test_expansion_limits.py",
    "semantics/test_fixes.py",
    "service/page/test_page_looks.py",
    "service/security",
    "spec/test_code_pages.py",
    "spec/test_spec.py",
    "stdlib/test_gate_default.py",
    "stdlib/test_std_guard.py",
    "stdlib/test_std_modules.py",
    "syntax/test_fuzz.py",
    "syntax/test_grammar.py",
    "syntax/test_lalr.py",
    "syntax/test_limits.py",
    "syntax/test_memory.py",
    "test_architecture.py",
    "testing/test_mutate_score.py",
}
REDUNDANT = HERE / "unmeasured.txt"
"""Tests that reach only what others reach, one a line."""
QUICK = "not slow"
"""The expression of `pytest -m` under which what is in `SLOW` is not even imported."""
CACHE = "VIGIL_CACHE_DIR"
"""What tells every process where the parser's tables are kept: to make them takes longer than to judge a policy."""
MEASURED = "COVERAGE_PROCESS_CONFIG"
"""What tells processes that tests start to be measured, too."""


# Whichever tests run together, each tries as many cases as it does alone, and however busy the machine is;
# `VIGIL_CASES=1000 make test` tries more.
settings.register_profile(
    "vigil",
    max_examples=int(os.environ.get("VIGIL_CASES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    database=None,
    # As Hypothesis does by itself: what is submitted is tried on the same cases each time, and `make test` on new ones.
    derandomize="CI" in os.environ,
    print_blob=True,
)
settings.load_profile("vigil")


def pytest_configure(config: pytest.Config) -> None:
    """Interrupts and hang-ups reach the processes that tests start, also where this one runs in the background.

    All of them have one cache, which is not the user's and goes with the session, whatever home a test gives them.

    A worker is measured once: pytest-cov starts a measurement when it is loaded and another one for the session.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not hasattr(config, "workerinput"):
        os.environ[CACHE] = tempfile.mkdtemp(prefix="vigil-tests-")
        config.add_cleanup(partial(shutil.rmtree, os.environ[CACHE], ignore_errors=True))
    plugin = config.pluginmanager.getplugin("_cov")
    if plugin is not None and plugin.cov_controller is not None:
        if hasattr(config, "workerinput"):
            plugin.cov_controller.cov.stop()
        if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
            config.pluginmanager.register(_Measurement())


class _Measurement:
    """Lines count while a fixture is made and a test runs, if the test is measured: not what pytest does in between,
    which would take twice as long.

    The trace function is taken from the thread and put back; coverage itself goes on, also in threads that a measured
    test has started.
    """

    def __init__(self) -> None:
        self._trace: _Traces = (None, None)
        self._wanted = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Iterator[None]:
        """Where all tests run, all of the package is imported first, whose lines count as reached: collecting is not
        measured."""
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            for module in pkgutil.walk_packages(vigil_lang.__path__, "vigil_lang."):
                if not module.name.endswith(".__main__"):
                    importlib.import_module(module.name)
            self._take()
        try:
            return (yield)
        finally:
            if self._trace == (None, None):
                self._take()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Keep the measurement from the processes of most tests, those of their fixtures included."""
        self._wanted = item.get_closest_marker("unmeasured") is None
        kept = None if self._wanted and item.get_closest_marker("processes") else os.environ.pop(MEASURED, None)
        try:
            return (yield)
        finally:
            if kept is not None:
                os.environ[MEASURED] = kept

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self) -> Iterator[None]:
        """Measure what a fixture does."""
        with self._measured():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Measure what a test does."""
        with self._measured():
            return (yield)

    def _take(self) -> None:
        self._trace = (sys.gettrace(), threading.gettrace())
        _put((None, None))

    @contextmanager
    def _measured(self) -> Iterator[None]:
        before = (sys.gettrace(), threading.gettrace())
        if self._wanted:
            _put(self._trace)
        try:
            yield
        finally:
            _put(before)


def _put(traces: _Traces) -> None:
    sys.settrace(traces[0])
    threading.settrace(traces[1])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave alone what is slow where slow tests are not wanted."""
    return (config.getoption("markexpr") == QUICK and _under(collection_path, SLOW)) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector: thousands of tests are made, and none is garbage, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark the tests that are slow, before `-m` selects, and those that are not measured."""
    paths = {item.path for item in items}
    slow, unmeasured = ({path for path in paths if _under(path, names)} for names in (SLOW, UNMEASURED))
    redundant = set(REDUNDANT.read_text().splitlines())
    for item in items:
        generated = is_hypothesis_test(getattr(item, "obj", None))
        if generated or item.path in slow:
            item.add_marker(pytest.mark.slow)
        if generated or item.path in unmeasured or item.nodeid.partition("[")[0] in redundant:
            item.add_marker(pytest.mark.unmeasured)


def _under(path: Path, names: set[str]) -> bool:
    """Whether a path is one of those that are named from here, or lies in one."""
    return any(place.relative_to(HERE).as_posix() in names for place in (path, *path.parents) if HERE in place.parents)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Workers are measured by the plugin alone, which can pause, and not besides as processes that were started."""
    os.environ.pop(MEASURED, None)
