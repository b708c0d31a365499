# The two commands: `make study` and `make test`. Both make .venv and install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= test
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: study test lint format bench bench-others bench-symbolic clean

study: $(VENV)/ready
	@$(BIN)/dalembert study puma560

test: $(VENV)/ready-$(EXTRAS)
	$(BIN)/python -m pytest -n auto --durations=5

lint: $(VENV)/ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/ready-lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .bench-venv/ready
	@.bench-venv/bin/python benchmarks/run.py

bench-others: .bench-venv/ready
	@.bench-venv/bin/python benchmarks/others.py

bench-symbolic: $(VENV)/ready-test
	@$(BIN)/python benchmarks/symbolic.py

.bench-venv/ready: pyproject.toml
	@echo "making .bench-venv with Pinocchio (440 MB) ..."
	@$(PYTHON) -m venv .bench-venv
	@.bench-venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) .bench-venv .pytest_cache .ruff_cache .hypothesis

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dalembert needs Python 3.11 or newer; this is " + sys.version.split()[0] + " (choose another: make PYTHON=python3.12 ...)")'
	@echo "making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/ready: pyproject.toml $(VENV)/made
	@echo "installing dalembert ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/ready-%: pyproject.toml $(VENV)/made
	@echo "installing dalembert[$*] ..."
	@$(PIP) --editable '.[$*]'
	@touch $@
