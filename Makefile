# `make demo` and `make test` need git, make and Python >= 3.11, nothing else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
# BLAS threads slow small problems down, and results must not depend on the number of cores.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1

.PHONY: demo reproduce test lint bench snapshot docs browse numbers drawings dist recipe release lowest clean clean-kernels

demo: $(VENV)/installed
	$(BIN)/skh demo

# Every experiment of the paper in small; for the full sizes: .venv/bin/skh reproduce all
reproduce: $(VENV)/installed
	$(BIN)/skh reproduce all --quick

test: lint
	$(BIN)/pytest -n 2 --dist loadgroup --cov --cov-report=term

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Peers get environments of their own under benchmarks/.peers the first time.
bench: $(VENV)/installed
	$(BIN)/python benchmarks/bench.py

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "skh needs Python >= 3.11; name one with: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[app,io,test]"
	touch $@

# The site, with all its code cells executed, into docs/_build/html; see docs/conf.py.
docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[app,docs]"
	$(BIN)/python docs/watch/build.py docs/_build/watch/watch.html
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# All pages of the built site in headless Chromium, as wide as a window and as a phone.
browse: $(VENV)/installed
	$(BIN)/pytest -q -n 0 -p no:cacheprovider tests/site/site_in_browser.py

# Numbers on pages, from results/ and benchmarks/; see docs/quoted/renew.py.
numbers: $(VENV)/installed
	$(BIN)/python docs/quoted/renew.py

# Pictures of docs/pictures, which are committed.
drawings: $(VENV)/installed
	$(BIN)/python docs/drawings.py

# Wheel and source distribution, with what they contain checked.
dist: $(VENV)/installed
	rm -rf dist
	$(BIN)/hatchling build -d dist
	$(BIN)/pytest -q -p no:cacheprovider tests/site/test_package.py

# A conda recipe of the source distribution, read by the parser of rattler-build; see packaging/recipe.py for the options.
recipe: dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check py-rattler-build
	$(BIN)/python packaging/recipe.py dist/*.tar.gz $(RECIPE) > dist/recipe.yaml
	$(BIN)/pytest -q -p no:cacheprovider tests/site/test_package.py -k recipe

# Everything but the upload: tests, site, distributions, and all tests of the wheel with each of PYTHONS.
PYTHONS ?= $(shell packaging/pythons.sh)
release: test docs browse dist lowest recipe
	for python in $(PYTHONS); do packaging/test_wheel.sh $$python dist/*.whl tests -n 2 --dist loadgroup || exit 1; done
	@test -n "$$SKH_HOME" || echo "the package has no addresses: name the repository, SKH_HOME=https://... make release"
	@echo "dist/ is ready to be uploaded"

# The wheel, and the command, with the lowest versions that pyproject.toml allows.
lowest: dist
	$(BIN)/python packaging/lowest.py app > dist/lowest.txt
	EXTRAS=app packaging/check_wheel.sh $(PYTHON) dist/*.whl -c $(abspath dist)/lowest.txt

# Record results to the bit anew, after a change that is meant to change numbers.
snapshot: $(VENV)/installed clean-kernels
	$(BIN)/python tests/snapshot/snapshot.py --write

# Machine code of earlier kernels is not used, but stays.
clean-kernels:
	find src -name '*.nb[ci]' -delete

clean: clean-kernels
	rm -rf $(VENV) benchmarks/.peers demo reproduction-quick
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
