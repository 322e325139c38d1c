# Everything sets itself up: the first target that runs makes the environment in $(VENV) from requirements.lock.
PYTHON ?= python3
VENV ?= .venv
SCALE ?= quick
OUT ?= results
# The showcase; `make reproduce IDS=` rebuilds everything.
IDS ?= decode-table3 decode-fig4 gap scaling equilibria oscillation
PYTEST_ARGS ?=

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Figures are written to files: no display is needed.
export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.PHONY: help environment reproduce test lint clean

help:
	@echo "make reproduce  rebuild the showcase and its report ($(OUT)/report.html); SCALE=quick|full, IDS=\"id …\", IDS= for everything"
	@echo "make test       run the tests; PYTEST_ARGS=\"…\" is handed to pytest"
	@echo "make lint       ruff, mypy and the import rules"
	@echo "make clean      remove the environment, results and caches"
	@echo "Each makes its own environment in $(VENV) first; PYTHON=python3.12 chooses the interpreter (3.11 or later)."

environment: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "No '$(PYTHON)' found. Install Python 3.11 or later, or name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "lbtheory needs Python 3.11 or later, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@echo "Making the environment in $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "Python's venv module does not work here; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PIP) install --no-deps -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

reproduce: $(STAMP)
	$(BIN)/lbtheory reproduce $(IDS) --scale $(SCALE) --out $(OUT)

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy lbtheory
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) $(OUT) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find lbtheory experiments paper_figures notebooks tests -name __pycache__ -type d -prune -exec rm -rf {} +
