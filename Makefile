# The interpreter that `.venv` is made with; from then on everything runs in `.venv`.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup test test-all test-turn style lint demo thrift airflow-demo bench nexmark bench-page scale scale-page soak lock clean

# Two files at a time, each half of them in a process of its own (WORKERS=0: one process).
PYTEST = $(BIN)/python -m pytest -n $(or $(WORKERS),2) --dist loadfile --no-loadscope-reorder --durations=10

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

setup: ## make .venv: packages from the lock, windrow, Delta's jars; offline once it is there (EXTRA=s3: for lakes on S3)
	@$(PYTHON) scripts/setup.py
	@$(if $(filter s3,$(EXTRA)),$(BIN)/python -m scripts.s3)

test: setup ## the tests but for the long ones, two files at a time (ARGS="-k sessions": some, WORKERS=0: one process)
	$(PYTEST) -m "not long" $(ARGS)

test-all: setup ## all tests, with more examples: well over an hour
	LONG=1 $(PYTEST) $(ARGS)

test-turn: setup ## the long tests of the day (TURN=2/3: of another one, BUDGET=1200: seconds after which none begins)
	$(PYTEST) -m long --turn $(or $(TURN),today) --budget $(or $(BUDGET),1200) $(ARGS)

style: setup ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

lint: style ## ruff, mypy, the tests that need no Spark and all checks of docker/
	$(BIN)/python -m pytest -q -m "not spark and not long"
	$(BIN)/python -m pytest -q -m long tests/contracts/test_docker.py

demo: setup ## run the demonstration on a part of its data (FULL=1: on all of it)
	FULL=$(FULL) $(BIN)/python -m demo

thrift: setup ## answer SQL over a pipeline's tables by JDBC (FILE=conf/pipelines/flights.yaml PORT=10000)
	$(BIN)/windrow serve $(or $(FILE),conf/pipelines/flights.yaml) --port $(or $(PORT),10000) $(ARGS)

airflow-demo: setup ## a three-day backfill of the flights, run by Airflow
	$(BIN)/python -m demo.airflow

bench: setup ## measure beside Spark (ROWS=8000000 ROUNDS=2: how much, ARGS="--only sliding": what)
	$(BIN)/python -m bench.bench $(ARGS)

nexmark: setup ## Nexmark beside Spark and Flink (EVENTS=2000000 ROUNDS=2: how much, ARGS="--only q11,q12": what)
	$(BIN)/python -m bench.nexmark $(ARGS)

bench-page: setup ## write docs/benchmark.md from what make bench and make nexmark have measured
	$(BIN)/python -m bench.page $(ARGS)

scale: setup ## measure what each step costs, and histories of up to 100,000 ticks (ARGS="--only history --ticks 1000": some)
	$(BIN)/python -m bench.scale $(ARGS)

scale-page: setup ## write docs/scale.md from what make scale and make soak have measured
	$(BIN)/python -m bench.scale --only page

soak: setup ## a stream with kills, maintenance, backfills and a reader for two hours and a quarter (HOURS=0.05: a rehearsal)
	HOURS=$(HOURS) $(BIN)/python -m bench.soak $(ARGS)

lock: setup ## write requirements.lock again from pyproject.toml (UPGRADE=--upgrade: newest versions)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --group dev --generate-hashes \
		--no-emit-index-url --custom-compile-command "make lock" $(UPGRADE) --output-file requirements.lock pyproject.toml

clean: ## remove everything that was made here
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
