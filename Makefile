# Two targets do everything on a fresh machine: `make demo` and `make test`. While you work, `make quick` answers in a minute.
# The environment is made once and remade when pyproject.toml changes. Of the packages that it gets, those modules are
# compiled that are imported, when they are: to compile all of them takes longer than all of the linters.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Compiled modules are kept, whatever the shell says: else every process compiles anew what it imports, and pytest
# rewrites the assertions of all tests.
export PYTHONDONTWRITEBYTECODE :=

# Two cores have enough to do with three workers, as tests often wait for what they started. Each begins with its share
# of all tests in their order, so that tests of a module find what it has started, and helps others when it is done.
WORKERS ?= -n 3 --dist worksteal

.PHONY: demo test e2e postgres spark quick lint types bench fmt fuzz differential mutants unmeasured rule vscode screenshots clean

demo: $(READY)
	@"$(BIN)/vigil" demo

# What tests drive is fetched while the linters are at work; where it cannot be had, its tests say so. Lines that no test
# reaches are shown by `.venv/bin/coverage report`: to find them takes a quarter of a minute.
test: $(READY)
	@"$(BIN)/python" tests/editors/install.py nvim & "$(BIN)/python" tests/e2e/install_hosts.py claude & \
		"$(MAKE)" --silent "$(VSCODE)/node_modules/.package-lock.json" >/dev/null 2>&1 & \
		"$(MAKE)" --no-print-directory --jobs 2 types tests/__pycache__ lint; status=$$?; wait; exit $$status
	"$(BIN)/pytest" $(WORKERS) --cov --cov-report= $(PYTEST_ARGS)

# Beside the type checker, which has one core to itself: else each worker rewrites the assertions of all tests at once.
tests/__pycache__: $(READY)
	@"$(BIN)/pytest" --collect-only -qq -n 0 > /dev/null || true
	@touch "$@"

# The hook against the real agents, offline: docs/e2e.md is written from what is found.
e2e: $(READY)
	@"$(BIN)/python" tests/e2e/install_hosts.py
	rm -rf .e2e/results
	VIGIL_E2E=1 timeout 3600 "$(BIN)/pytest" -q -n 2 tests/e2e -k does_what; "$(BIN)/python" -m tests.e2e.page

# The gate with its log in PostgreSQL: tests/postgres/server.py starts the one that Debian's package `postgresql` has.
postgres: $(READY)
	"$(BIN)/pytest" -q -n 2 tests/gate/storage tests/gate/test_gate.py tests/gate/test_gate_snapshots.py \
		tests/gate/holds/test_holds.py $(PYTEST_ARGS)

# A scan by Spark, in this process and on a cluster of two workers; it needs Java 17 or newer.
spark: $(READY)
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --group spark
	"$(BIN)/pytest" -q -n 0 tests/corpus/test_spark.py $(PYTEST_ARGS)

quick: lint types
	"$(BIN)/pytest" -q $(WORKERS) -m "not slow" $(PYTEST_ARGS)

lint: $(READY)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/vigil" fmt --check stdlib examples
	"$(BIN)/vigil" lint stdlib examples --select ALL --ignore VGL8

types: $(READY)
	"$(BIN)/mypy"
	"$(BIN)/mypy" tests/api/api_examples.py

bench: $(READY)
	"$(BIN)/python" -m compileall -q vigil_lang lsp/vigil_lsp
	"$(BIN)/python" tests/bench.py
	"$(BIN)/python" tests/bench_audit.py
	"$(BIN)/python" tests/bench_mcp.py
	"$(BIN)/python" tests/bench_service.py
	"$(BIN)/python" tests/bench_scan.py

fmt: $(READY)
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .
	"$(BIN)/vigil" fmt stdlib examples

fuzz: $(READY)
	"$(BIN)/python" tests/fuzz_parser.py --count 1000000
	VIGIL_FUZZ=1 "$(BIN)/pytest" -q tests/service/security/test_service_fuzzing.py -k ten_thousand
	VIGIL_FUZZ=1 "$(BIN)/pytest" -q tests/lsp/test_sync.py -k thousands_of_sequences
	VIGIL_CASES=2000 "$(BIN)/pytest" -q tests/syntax/test_memory.py -k edits

differential: $(READY)
	"$(BIN)/python" -m tests.differential.long_run --count 100000
	"$(BIN)/python" -m tests.differential.long_run_monitor --count 200000
	"$(BIN)/python" -m tests.differential.long_run_columnar --count 100000
	"$(BIN)/python" -m tests.corpus.store_kills --count 100
	"$(BIN)/python" -m tests.corpus.plain_traces --count 100000
	"$(BIN)/python" -m tests.gate.decide.long_run_decide --count 1000000
	"$(BIN)/python" -m tests.gate.authority.forgeries --count 100000
	"$(BIN)/python" -m tests.gate.log.tampering --count 10000
	"$(BIN)/python" -m tests.gate.crashes --count 1000
	"$(BIN)/python" -m tests.points.daemon.kills --count 1000

# Every branch of the gate's kernel is tried by its own tests, and each small change of it is noticed by one: the
# survivors are those that docs/gate-kernel.md explains.
mutants: $(READY)
	"$(BIN)/pytest" -q -n 2 tests/gate/decide --cov=vigil_lang.gate.decide --cov-branch --cov-fail-under=100 -m "not slow"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --group mutants
	timeout 3600 "$(BIN)/mutmut" run --max-children 2
	"$(BIN)/python" tests/gate/decide/survivors.py

# Slow tests that reach only what others reach are not measured for coverage: tests/unmeasured.txt, made anew in a quarter
# of an hour.
unmeasured: $(READY)
	"$(BIN)/python" -m tests.unmeasured $(WORKERS) $(PYTEST_ARGS)

$(READY): pyproject.toml
	"$(PYTHON)" -c 'import sys; sys.exit("vigil needs Python 3.11 or newer; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	"$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-compile --editable . --group dev --group adapters
	"$(BIN)/python" -m compileall -q vigil_lang lsp/vigil_lsp
	@touch "$@"

# make rule CODE=VGL326 NAME=my_rule SUMMARY="what is wrong"
rule: $(READY)
	"$(BIN)/python" tests/lint/new_rule.py "$(CODE)" "$(NAME)" "$(SUMMARY)"

# The extension for VS Code, type-checked, its grammar tested: lsp/editors/vscode/vigil-<version>.vsix
VSCODE := lsp/editors/vscode

vscode: $(VSCODE)/node_modules/.package-lock.json
	cd "$(VSCODE)" && npm run package

$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	cd "$(VSCODE)" && npm ci
	@touch "$@"

# The pictures of docs/editors.md, of real editors; what cannot be had here is passed over with the reason.
screenshots: $(READY)
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --group screenshots
	"$(BIN)/python" -m tests.editors.screenshots $(PICTURES)

clean:
	rm -rf "$(VENV)" mutants .mypy_cache .pytest_cache .ruff_cache .hypothesis htmlcov dist build "$(VSCODE)/node_modules" "$(VSCODE)/dist" "$(VSCODE)"/*.vsix
