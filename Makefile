# What people and CI call. `make run` and `make test` do all that is needed before them; a second call is quick.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# May be given, e.g. `make setup PYTHON=python3.12`:
#   PYTHON             makes .venv; 3.11 or newer (python3 on PATH)
#   LEARNERS_BASE      makes .venv-learners; must be readable for every user (/usr/bin/python3)
#   LEARNERS_PIP_ARGS  further arguments of pip there, e.g. an index with a build of torch without CUDA
export PYTHON LEARNERS_BASE LEARNERS_PIP_ARGS

# Further arguments of pytest: `make test PYTEST_ARGS='-k engine'`.
PYTEST_ARGS ?=

# What may share the machine runs on all its cores, each on a runner of its own; then, one test at a time, what measures,
# what counts all that is left on the host, and the browser. The slowest are named: the suite is to stay in 15 minutes.
# Each pass may find nothing to run (5) where PYTEST_ARGS chooses; the second runs whatever became of the first.
LONE := gauging leftovers measuring measuring_trust pinning sandbox_leaks
LONE_TESTS := $(LONE:%=tests/sandbox_runner/test_%.py) tests/browser
SHARED_TESTS := -n logical --maxprocesses 8 --dist loadfile --durations 12 $(LONE_TESTS:%=--ignore %)
# What fails is tried once more, by itself and in the open: verdicts of the instrument are right in 99 of 100 by design,
# and a host may be busy. What fails twice fails.
define TESTS
failed=0
$(BIN)/python -m pytest $(SHARED_TESTS) $(PYTEST_ARGS) || [ $$? = 5 ] || { \
	echo 'tried once more: what failed'; \
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none $(SHARED_TESTS) $(PYTEST_ARGS) || failed=1; }
$(BIN)/python -m pytest $(LONE_TESTS) $(PYTEST_ARGS) || [ $$? = 5 ] || { \
	echo 'tried once more: what failed'; \
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none $(LONE_TESTS) $(PYTEST_ARGS) || failed=1; }
exit $$failed
endef

BIN := .venv/bin
RUFF := $(BIN)/ruff

.PHONY: help
help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: run
run: setup ## set up what serving needs and serve the web chat
	@TASREE_RUNNER_EXAMPLES="$${TASREE_RUNNER_EXAMPLES-$(CURDIR)/content/lessons}" exec $(BIN)/python -m bot web

.PHONY: test
test: setup-all ## every test that this host can run; what is skipped is counted and named
	@$(TESTS)

.PHONY: check
check: setup-all static ## style, types, layers, content and lessons, then every test
	@$(TESTS)

.PHONY: static
static: setup-all ## `check` without the tests
	@set -x
	$(RUFF) check --no-fix .
	$(RUFF) format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m content check
	$(BIN)/python -m bot check --no-runner

.PHONY: fix
fix: setup-all ## mend style where a tool can
	@$(RUFF) check --fix .
	$(RUFF) format .

.PHONY: bench
bench: setup-all ## run tests/bench/*.py; each prints one JSON document
	@for file in tests/bench/*.py; do
		echo "bench: $$file" >&2
		timeout --foreground 900 $(BIN)/python "$$file" </dev/null
	done

.PHONY: soak
soak: setup-all ## the long tests, at full limits; results are kept in tests/soak/last.json
	@$(BIN)/python -m pytest --soak --timeout 0 -m soak $(PYTEST_ARGS)

.PHONY: release
release: check ## `check`, and nothing recorded of the course may be missing or stale
	@$(BIN)/python -m content check --release

.PHONY: lock
lock: setup-all ## resolve pyproject.toml's extras anew into requirements/*.lock
	@$(BIN)/python deploy/setup/lock.py

.PHONY: setup
setup: ## Debian packages (as root), .venv and .venv-learners, as `make run` needs them
	@deploy/setup/packages.sh run
	deploy/setup/environments.sh run

.PHONY: setup-all
setup-all: ## the same for the tests and tools
	@deploy/setup/packages.sh test
	deploy/setup/environments.sh test
