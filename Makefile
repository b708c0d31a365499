# The two commands: `make study` and `make test`. Both make .venv and install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= test
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: study test test-slow test-lanes test-matrix test-arm64 lint format bench bench-others bench-symbolic bench-growth pictures docs dist test-dist clean

study: $(VENV)/ready-study
	@$(BIN)/dalembert study puma560

test: $(VENV)/ready-$(EXTRAS)
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=5 -m "not slow"

test-slow: $(VENV)/ready-$(EXTRAS)
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=5 -m slow

# the native engine with the vectors of other machines: SSE2 without fused multiply-adds, AVX2, AVX-512 (split where there is none);
# two long tests of memory and processes, which vectors do not concern, run once; the vectors of this machine are those of the other tests
NATIVE := tests/test_native.py tests/test_native_objects.py tests/test_native_threads.py tests/test_cache.py
test-lanes: $(VENV)/ready-$(EXTRAS)
	@set -e; own=$$($(BIN)/python -c 'from dalembert.native import machine; print(machine.host().lanes)'); \
	for lanes in 2 4 8; do \
	  if [ $$lanes = $$own ]; then continue; fi; \
	  echo "vectors of $$lanes doubles ..."; \
	  DALEMBERT_LANES=$$lanes $(BIN)/python -m pytest -q -n auto --dist worksteal $(NATIVE) -k 'not die_with_their_robots and not eight_processes'; \
	done

# every Python of PATH from 3.11 up, with the oldest and the newest NumPy and llvmlite allowed
test-matrix:
	@$(PYTHON) tools/matrix.py

# on aarch64, emulated by qemu; tools/arm64.py says what it needs
test-arm64: $(VENV)/ready-test
	@$(BIN)/python tools/arm64.py

# wheel and sdist, in dist/; the wheel is built from the sdist
dist: $(VENV)/ready-dist
	@rm -rf dist
	$(BIN)/python -m build

# what is in them, and tests and a study with the wheel alone, in an empty environment outside this folder
test-dist: dist
	@$(BIN)/python tools/dist.py

lint: $(VENV)/ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/ready-lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .bench-venv/ready
	@.bench-venv/bin/python benchmarks/run.py

# crocoddyl, which `make bench` compares with if this is there; with pin 4 it would load, and compute garbage
.crocoddyl-venv/ready:
	@$(PYTHON) -m venv .crocoddyl-venv
	@.crocoddyl-venv/bin/python -m pip install --quiet --disable-pip-version-check \
	  crocoddyl==3.2.0 "pin<4" "cmeel-urdfdom<5" "cmeel-tinyxml2<11" "cmeel-boost<1.90" "example-robot-data<5"
	@touch $@

bench-others: .bench-venv/ready
	@.bench-venv/bin/python benchmarks/others.py

bench-symbolic: $(VENV)/ready-test
	@$(BIN)/python benchmarks/symbolic.py

bench-growth: $(VENV)/ready-test
	@$(BIN)/python benchmarks/growth.py docs/images/growth.svg

# all pictures of the README and the pages that are not drawn when the pages are built; one of them shows times: let nothing else run
pictures: bench-growth
	@$(BIN)/python tools/screenshot.py puma560 docs/images/report.png

# MathJax comes from npm into build/docs, so that the pages need no network; it is one file, and not committed
MATHJAX := mathjax@3.2.2
docs: $(VENV)/ready-docs build/docs/static/mathjax/tex-svg-full.js
	@rm -rf build/docs/html
	$(BIN)/python -m sphinx -b html -E -W --keep-going -n -q -d build/docs/doctrees docs build/docs/html
	@$(BIN)/python docs/_ext/offline.py build/docs/html
	@node docs/_ext/formulas.cjs build/docs/html build/docs/npm/node_modules/mathjax
	@echo "the pages are in build/docs/html: open build/docs/html/index.html"

build/docs/static/mathjax/tex-svg-full.js:
	@command -v npm >/dev/null || { echo "make docs needs npm, which is not installed: it fetches MathJax (Debian: apt-get install npm)" >&2; exit 1; }
	@mkdir -p build/docs/npm $(dir $@)
	@npm install --silent --no-save --no-audit --no-fund --prefix build/docs/npm $(MATHJAX)
	@cp build/docs/npm/node_modules/mathjax/es5/tex-svg-full.js $@

# drives Firefox in the test of the live page
PUPPETEER := puppeteer-core@24
build/npm/node_modules/puppeteer-core:
	@npm install --silent --no-save --no-audit --no-fund --prefix build/npm $(PUPPETEER)

.bench-venv/ready: pyproject.toml
	@echo "making .bench-venv with Pinocchio (440 MB) ..."
	@$(PYTHON) -m venv .bench-venv
	@.bench-venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) .bench-venv .crocoddyl-venv build dist .pytest_cache .ruff_cache .hypothesis

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dalembert needs Python 3.11 or newer; this is " + sys.version.split()[0] + " (choose another: make PYTHON=python3.12 ...)")'
	@echo "making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/ready-%: pyproject.toml $(VENV)/made
	@echo "installing dalembert[$*] ..."
	@$(PIP) --editable '.[$*]'
	@touch $@
