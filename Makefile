# `make` creates .venv itself and needs only Python 3.11 to 3.13 with pip.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
COMMAND := .venv/bin/pubmill
WORLD := tests/world/mirror
REPORT := results/demo/reports/demo.html
CPU_BUILDS := https://download.pytorch.org/whl/cpu
TORCH := $(shell sed -n 's/^torch==\([^ ]*\).*/\1/p' requirements/torch.txt)
CUDA ?= $(shell command -v nvidia-smi)
HASHED = --no-deps --require-hashes -r requirements
# The CPU build on Linux has its own version label, so the CUDA build (several GB) never replaces it.
# An unreachable index is only a warning, but each retry would cost seconds.
CPU_TORCH = --retries 0 --extra-index-url $(CPU_BUILDS) torch==$(TORCH)+cpu
TORCH_BUILD = $(if $(filter-out Linux,$(shell uname)),$(HASHED)/torch.txt,$(if $(CUDA),$(HASHED)/cuda.txt,$(CPU_TORCH)))

PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
ROOMS := $(filter-out __pycache__,$(notdir $(patsubst %/,%,$(wildcard tests/unit/*/))))
# benchmarks/gpu.sh runs gpu_runs.py; speedrun.py takes hours.
BENCHES := $(filter-out gpu_runs speedrun command_times minhash minhash_peer scale_figures slurm_jobs,$(basename $(notdir $(shell grep -l __main__ benchmarks/*.py))))
FLAGS ?= --quick
# $(call known,VARIABLE,VALUES): stop if the variable has a value that is not one of these.
known = $(if $(filter-out undefined,$(origin $1)),$(if $(filter-out $2,$(or $($1),nothing)),$(error \
	$1=$($1): expected one or more of $2)))
$(if $(filter test test-all,$(MAKECMDGOALS)),$(call known,ROOM,$(ROOMS)))
$(if $(filter bench,$(MAKECMDGOALS)),$(call known,BENCH,$(BENCHES)))

.PHONY: help setup world demo test test-all numeric kernels rehearse bench attack data-check docs lint format lock dist sbom clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    the whole pipeline on miniature data; ends with $(REPORT)"
	@echo "make test    the tests that a change needs (ROOM=corpus: the unit tests of one room)"
	@echo "make test LONG=1  also kills, clusters and many cases, as continuous integration does"
	@echo "make test-all  all tests, including hundreds of cases, kills and clusters"
	@echo "make numeric comparisons of float numbers with the kernels of old processors (in test-all)"
	@echo "make kernels compile the GPU kernels by Triton, and run them on its interpreter, without a GPU"
	@echo "make rehearse  the benchmarks and tests for GPUs with less to do, on a processor"
	@echo "make bench   all benchmarks, quickly (BENCH=medline: one; FLAGS=: for figures to quote)"
	@echo "make attack  faults by the thousand: docs/reliability.md (ATTACKS='medline yaml' for some)"
	@echo "make data-check MIRROR=FOLDER [LOCAL='KEY=FOLDER ...'] [DATASETS='NAME ...']"
	@echo "             convert every available real dataset; compare counts and hashes with the specs"
	@echo "make docs    the documentation as a site, with its links checked: results/site/index.html"
	@echo "make lint    ruff, mypy and snakefmt, as before every commit"
	@echo "make format  fix the layout and import order that make lint reports"
	@echo "make setup   only create .venv (all of the above do so when needed)"
	@echo "make lock    regenerate requirements/ from pyproject.toml, and envs/ from requirements/"
	@echo "make dist    wheel and source distribution: results/dist"
	@echo "make sbom    list pubmill's packages with hashes as CycloneDX: results/sbom.cdx.json"
	@echo "make clean   remove .venv, the miniature data and compiled kernels; other results stay"
	@echo "Another Python: make PYTHON=python3.12 demo"

setup: $(COMMAND)

# Written last: an interrupted setup starts again, a complete one does nothing.
$(READY): requirements/lock.txt requirements/torch.txt requirements/cuda.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v <= (3, 13) or sys.exit("pubmill needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.11 $(MAKECMDGOALS)" % v)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --use-pep517 --no-deps --require-hashes -r requirements/lock.txt
	$(BIN)/python -m pip install --quiet $(TORCH_BUILD)
	@touch $@

# The command's entry point; the package itself stays in the checkout.
$(COMMAND): $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

world: $(COMMAND)
	@$(BIN)/python -m tests.world $(WORLD)

demo: world
	@$(COMMAND) demo

# Else each of the hundreds of programs that tests start compiles what it imports.
test test-all numeric: export PYTHONDONTWRITEBYTECODE =

test: world
	$(PYTEST) -m "not $(if $(LONG),weekly,long)" $(ROOM:%=tests/unit/%)

# First, so that the closing line is that of all tests.
test-all: world $(if $(ROOM),,numeric)
	$(PYTEST) $(ROOM:%=tests/unit/%)

# Other kernels round differently: these exist on every x86 processor, and few processors choose them.
# Trainings that must only learn, repeat their bits, or go on are left out: they take long and compare no rounding.
UNROUNDED = it_learns or is_learnt or setting_learns or learns_a_relation or bit or bytes or segments or trains_and_resumes \
	or same_as_the_library or gone_on_with or begun_with or kept_beside or phases_keep or middle_on or loss_that_rises \
	or tensorboard
numeric: world
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=AVX2 $(PYTEST) -m "not long" \
		-k "not ($(UNROUNDED))" \
		$$(grep -l torch.testing.assert_close tests/unit/pretraining/*.py tests/unit/finetuning/*.py)

# Beside the other packages, because transformers and torch look for Triton.
kernels: .venv/triton/ready
	PYTHONPATH=.venv/triton $(BIN)/python -m pytest -q tests/gpu/test_kernels.py

.venv/triton/ready: $(READY) requirements/triton.txt
	$(BIN)/python -m pip install --quiet --upgrade --target .venv/triton $(HASHED)/triton.txt
	@touch $@

# What a GPU would be asked, on a processor; TORCH=2.11.0 with a new .venv: another version of torch.
rehearse: $(READY)
	@set -e; for part in methods profile tests pretraining finetuning resume processes seeds; do \
		PYTHON=$(BIN)/python OUT=results/rehearsal benchmarks/gpu.sh --rehearse $$part; done
	$(BIN)/python -m pytest -q -m "not long" tests/gpu

bench: .venv/bench
	@set -e; for name in $(or $(BENCH),$(BENCHES)); do \
		echo "== benchmarks/$$name.py $(FLAGS)"; $(BIN)/python benchmarks/$$name.py $(FLAGS); done

.venv/bench: $(READY) requirements/bench.txt
	$(BIN)/python -m pip install --quiet $(HASHED)/bench.txt
	@touch $@

attack: $(READY)
	$(BIN)/python -m tests.attack $(ATTACKS)

data-check: $(READY)
	@$(BIN)/pubmill doctor data $(if $(MIRROR),--mirror "$(MIRROR)") \
		$(foreach pair,$(LOCAL),--local "$(pair)") $(DATASETS)

docs: .venv/docs/ready $(READY)
	$(BIN)/python -m tests.generated_pages
	NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --strict
	@echo "The site: results/site/index.html"

.venv/docs/ready: requirements/docs.txt
	$(PYTHON) -m venv .venv/docs
	.venv/docs/bin/python -m pip install --quiet $(HASHED)/docs.txt
	@touch $@

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile rules

# Pins that still fit stay as they are; `rm requirements/lock.txt` beforehand selects the newest versions.
lock:
	$(PYTHON) -m venv .venv/lock
	.venv/lock/bin/python -m pip install --quiet --upgrade pip pip-tools
	CUSTOM_COMPILE_COMMAND="make lock" .venv/lock/bin/pip-compile --quiet --generate-hashes --allow-unsafe \
		--strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--extra torch-needs --extra dev --output-file requirements/lock.txt pyproject.toml
	echo mkdocs-material | CUSTOM_COMPILE_COMMAND="make lock" .venv/lock/bin/pip-compile --quiet \
		--generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --output-file requirements/docs.txt -
	$(BIN)/python -m tests.torch_lock --write
	$(BIN)/python -m tests.envs --write

dist: $(READY)
	rm -rf results/dist && mkdir -p results/dist
	$(BIN)/python -c 'from setuptools.build_meta import build_sdist; build_sdist("results/dist")'
	$(BIN)/python -m pip wheel --quiet --no-deps --no-index --no-build-isolation --wheel-dir results/dist results/dist/*.tar.gz
	@ls results/dist

sbom: $(READY)
	@mkdir -p results
	$(BIN)/python -m tests.sbom > results/sbom.cdx.json

clean:
	rm -rf .venv $(WORLD) results/.compiled
