# Two commands: `make run` opens the dashboard, `make test` checks everything.
# Needs Python 3.11 or later, make, pip and npm; all else is set up in .venv and node_modules.

HOST     ?= 127.0.0.1
PORT     ?= 8000
DATA_DIR ?= ./data
BROWSER  ?= yes
SECONDS  ?= 60
KILLS    ?= 50
INPUTS   ?= 200000
FIRST    ?= 0
PYTEST_ARGS ?=
# Test processes side by side: one more than processors, for a test of a server or a browser waits half of its time.
# Files stay whole, for they share servers, in the order of conftest.py.
WORKERS  ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
CYCLES  ?= 500
# Which states `make screenshots` shows.
ONLY    ?= *
GUIDED  := xspace hlo ncu-report ncu-table pytorch xprof-export rocprof generic wrong-file archive database
comma   := ,

# Container images often tell Python not to keep what it compiled. The tests start hundreds of processes,
# and each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

BIN     := .venv/bin
# What Prettier lays out.
PRETTY  := static/js static/css tests/js tests/tools/plotly/*.*js
# The sources of compiled kernels; which of them have kernels is the importers' own affair.
KERNELS := $(shell find app/roofline/importers -name '*.py')

.DEFAULT_GOAL := help
.PHONY: help run test test-long lint types style format test-js test-py collect bench bench-server crash crash-runs fuzz fuzz-guided screenshot screenshots headlines house lock dist samples clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  Settings: HOST=$(HOST) PORT=$(PORT) DATA_DIR=$(DATA_DIR), as in 'make run PORT=9000'."

run: .venv/.warm ## Start the dashboard on http://127.0.0.1:8000.
	ROOFLINE_HOST=$(HOST) ROOFLINE_PORT=$(PORT) ROOFLINE_DATA_DIR=$(DATA_DIR) exec $(BIN)/roofline serve

test: ## Run lint, types, JavaScript tests and all Python tests.
	@.ci/setup python-test npm postgresql proxies $(if $(filter no,$(BROWSER)),,chromium)
	@$(MAKE) --no-print-directory --jobs=2 .venv/.warm-test types style test-js collect # the longest first
	@$(MAKE) --no-print-directory test-py

lint: style types ## Check format, lint, import rules, types and plain words.

types: .venv/.ready-test
	$(BIN)/mypy

style: .venv/.ready-test
	@.ci/setup npm
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.tools.plain_words
	$(BIN)/python -m tests.tools.unused
	$(BIN)/python -m tests.tools.contract --check
	node_modules/.bin/prettier --check --log-level warn $(PRETTY)
	node_modules/.bin/tsc

format: .venv/.ready-test ## Lay out Python, JavaScript and style sheets.
	@.ci/setup npm
	$(BIN)/ruff format .
	node_modules/.bin/prettier --write --log-level warn $(PRETTY)

test-js: ## Run the JavaScript unit tests.
	@.ci/setup node
	@mkdir -p build
	@echo "node --test tests/js"
	@node --test $(wildcard tests/js/*.test.js tests/js/*/*.test.js) >build/test-js.log || { cat build/test-js.log; exit 1; }
	@tail -n 8 build/test-js.log

test-py: .venv/.warm-test ## Run pytest, the browser tests included (BROWSER=no leaves them out).
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
		-m "not long$(if $(filter no,$(BROWSER)), and not browser)" $(PYTEST_ARGS)

# pytest rewrites the asserts of every module that it imports, which takes longest of its start:
# one process does it for all of those that run the tests.
collect: .venv/.warm-test
	@mkdir -p build
	@echo "pytest --collect-only"
	@$(BIN)/python -m pytest --collect-only -qq >build/collect.log || { cat build/collect.log; exit 1; }

test-long: .venv/.warm-test ## Run the tests that `make test` leaves out because they take long: damage, kills, wheels.
	@.ci/setup npm postgresql chromium
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m long $(PYTEST_ARGS)

bench: .venv/.warm-test ## Time pages, and imports against XProf 2.24.2; fails where a ratio fell by more than 5 % since it was recorded.
	$(BIN)/python -m bench.page
	$(BIN)/python -m bench.run

crash: .venv/.ready-test ## Kill servers, children, workers and databases, and fill disks, CYCLES times (500): nothing is lost.
	$(BIN)/python -m tests.storage.crash --cycles $(CYCLES) --folder build/crash

crash-runs: .venv/.warm-test ## Kill workers, schedulers, jobs and servers that read a run of hosts, KILLS times (50): the same digest.
	$(BIN)/python -m tests.fleet.crash --kills $(KILLS) --folder build/crash-runs

fuzz: .venv/.warm-test ## Mutated files of every format through the importers for SECONDS (60); see tests/fuzz.
	$(BIN)/python -m tests.fuzz.run --seconds $(SECONDS) --inputs $(INPUTS) --first $(FIRST) $(if $(FAMILIES),--families $(FAMILIES))

fuzz-guided: .venv/.warm-test ## The same by the branches reached, SECONDS for each of FAMILIES (all).
	@.ci/setup python-fuzz
	@set -e; for family in $(or $(subst $(comma), ,$(FAMILIES)),$(GUIDED)); do \
		$(BIN)/python -m tests.fuzz.guided --family $$family --seconds $(SECONDS); done

bench-server: .venv/.warm-test ## Time the server: 200 viewers, an import of 60 MB, an upload of 1.5 GB.
	$(BIN)/python -m bench.server --keep

screenshots: .venv/.warm-test ## Take every page in every state, size and theme into build/screenshots, and check each.
	$(BIN)/python -m tests.screens.run --only "$(ONLY)"

screenshot: .venv/.warm-test ## Take docs/screenshot.png from the running page.
	$(BIN)/python -m docs.take_screenshot

lock: .venv/.ready-test ## Resolve dependencies anew and write uv.lock and sbom.cdx.json (UPGRADE=yes: to the newest).
	$(BIN)/uv lock $(if $(filter yes,$(UPGRADE)),--upgrade)
	$(BIN)/uv export --quiet --frozen --only-group uv --no-annotate --output-file .ci/uv.txt
	$(BIN)/python -m tests.tools.sbom

dist: .venv/.ready-run ## Build the wheel into dist/, with kernels for common CPUs and a list of what it needs, versions and hashes.
	$(BIN)/roofline warm-up --portable
	$(BIN)/python -m hatchling build --target wheel --directory dist
	rm -r app/roofline/importers/portable_kernels
	$(BIN)/uv export --quiet --frozen --no-emit-project --no-default-groups --extra fleet --extra team \
		--no-annotate --output-file dist/requirements.txt

house: .venv/.warm-test ## Count lines, files, circles and the like against tests/house.toml, and time the start.
	$(BIN)/python -m tests.tools.house --rooms --start

headlines: .venv/.warm-test ## Print the first sentence of every sample and of every real file beside the checkout.
	$(BIN)/python -m tests.tools.headlines

samples: .venv/.ready-test ## Generate the sample profiles again.
	$(BIN)/python -m tests.tools.make_samples

clean: ## Remove everything that set-up and tests made; keeps DATA_DIR.
	rm -rf .venv node_modules .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis \
		build dist bench/.work
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up happens once per change of what is installed; later calls find the stamp. It holds the
# checkout's path: one that was moved sets up anew.
ifneq ($(shell cat .venv/.ready-run 2>/dev/null),$(shell pwd -P))
.venv/.ready-run .venv/.ready-test: moved
endif
.PHONY: moved
moved: ;

.venv/.ready-run .venv/.ready-test: .venv/.ready-%: pyproject.toml uv.lock .ci/uv.txt .ci/setup
	@.ci/setup python-$*

# The importers' kernels compile once per change of their code, never inside a request.
.venv/.warm: .venv/.ready-run $(KERNELS)
	$(BIN)/roofline warm-up
	@touch $@

.venv/.warm-test: .venv/.ready-test $(KERNELS)
	$(BIN)/roofline warm-up
	@touch $@ .venv/.warm
