# formiga: `make run` opens the laboratory, `make test` runs the tests. Each target sets up what it needs in .venv, once.

VENV   := .venv
BIN    := $(VENV)/bin
LEAST  := 3.11
SHELL  := /bin/bash

# The mkdocs theme greets every build with a notice about mkdocs 2; this is its own switch for that.
export NO_MKDOCS_2_WARNING := 1

# Python may keep its bytecode, whatever the shell says: the tests start hundreds of processes, and each would parse all it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run test lint bench docs pictures clean chromium
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 17

run: $(VENV)/.ready-run  ## open the laboratory in the browser; WORLD=mixed chooses another world
	@$(BIN)/formiga view $(WORLD)

test: $(VENV)/.ready-test chromium  ## run all tests, with two workers more than cores (many tests wait), and those in a real browser
	@$(BIN)/python -m pytest -n $$(( $$($(BIN)/python -c 'import os; print(os.cpu_count() or 1)') + 2 )) -q

lint: $(VENV)/.ready-lint  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy

bench: $(VENV)/.ready-run  ## speed tables of this machine
	@$(BIN)/formiga bench

docs: $(VENV)/.ready-docs  ## build the documentation into site/
	@$(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

pictures: $(VENV)/.ready-test chromium  ## take the pictures of the laboratory in docs/ and in the gallery again
	@$(BIN)/python docs/screenshots.py

clean:  ## remove what was built; .venv stays (delete it by hand for a fresh start)
	@rm -rf site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find formiga tests docs examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# -- the environment --------------------------------------------------------------------------------------------------
# .ready-run has the runtime dependencies alone; .ready-test, .ready-lint and .ready-docs add the extra of that name.
$(VENV)/.ready-run: EXTRA :=
$(VENV)/.ready-%: EXTRA = [$*]

$(VENV)/.ready-%: pyproject.toml | $(BIN)/pip
	@echo "setting up $(VENV) for 'make $*', once (a minute or two) ..."
	@$(BIN)/python -m pip install --disable-pip-version-check --no-compile --editable '.$(EXTRA)' >$(VENV)/setup.log 2>&1 || \
	  { cat $(VENV)/setup.log; echo "setting up $(VENV) failed; pip's own words are above."; exit 1; }
	@touch $@

# A Python that is new enough, with the venv module. Debian and Ubuntu keep that module in a package of its own.
$(BIN)/pip:
	@python=; \
	for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	  if $$each -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(LEAST)".split("."))))' 2>/dev/null; \
	  then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "formiga needs Python $(LEAST) or newer, found: $$(python3 --version 2>/dev/null || echo none)."; \
	  echo "On Debian 12, Ubuntu 24.04 or newer type: sudo apt-get install python3 python3-venv"; exit 1; \
	fi; \
	if ! $$python -c 'import ensurepip' 2>/dev/null; then \
	  package=$$python-venv; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing $$package ..."; \
	    log=$$(mktemp); { apt-get update; apt-get install -y $$package; } >$$log 2>&1 || cat $$log; rm -f $$log; \
	  fi; \
	  if ! $$python -c 'import ensurepip' 2>/dev/null; then \
	    echo "Python's venv module is missing. Type: sudo apt-get install $$package"; exit 1; \
	  fi; \
	fi; \
	$$python -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Chromium, for the tests in a real browser. Where we may not install it, those tests are skipped, with a reason; in a
# continuous integration (CI is set) they fail.
chromium:
	@there() { for each in "$$CHROMIUM" chromium chromium-browser google-chrome chrome; do \
	  if [ -n "$$each" ] && command -v "$$each" >/dev/null; then return 0; fi; done; return 1; }; \
	if there; then exit 0; fi; \
	root=; if [ "$$(id -u)" != 0 ]; then root="sudo -n"; fi; \
	if command -v apt-get >/dev/null && $$root true 2>/dev/null; then \
	  echo "installing chromium, once (a minute or two) ..."; \
	  log=$$(mktemp); get="$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"; \
	  { $$root apt-get update; $$get chromium || $$get chromium-browser; } >$$log 2>&1 </dev/null; \
	  if there; then rm -f $$log; exit 0; fi; \
	  cat $$log; rm -f $$log; echo "chromium could not be installed; apt's own words are above."; \
	fi; \
	echo "There is no Chromium, so what needs a real browser is left out. Type: sudo apt-get install chromium"
