# Everything that can be done here, one word each. PYTHON chooses the interpreter (3.11 or newer).

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test torture bench docs clean

BIN := .venv/bin

help: ## Show these lines
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 14

demo: .venv/demo.stamp ## Ask five private questions about 200,000 invented visits to hospitals, and draw the answers
	$(BIN)/indistinct demo --out demo
	$(BIN)/indistinct figures --out figures

test: .venv/test.stamp ## Check everything: style, types, imports, tests, examples, documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest --numprocesses auto --dist loadgroup
	$(BIN)/sphinx-build -W --keep-going -n -E -q -b html docs docs/_build/html

torture: .venv/test.stamp ## Kill the ledger and the service, cut the power and fill the disk, a thousand times and more (slow)
	INDISTINCT_TORTURE=1 $(BIN)/pytest tests/ledger tests/server/test_torture.py tests/server/test_deployment.py -q -s

bench: .venv-bench/bench.stamp ## Measure against other libraries, side by side (slow)
	.venv-bench/bin/python benchmarks/composition.py
	.venv-bench/bin/python benchmarks/drawing.py
	.venv-bench/bin/python benchmarks/selection.py
	.venv-bench/bin/python benchmarks/noise.py
	.venv-bench/bin/python benchmarks/sketches.py
	.venv-bench/bin/python benchmarks/ledger.py
	.venv-bench/bin/python benchmarks/queries.py
	.venv-bench/bin/python benchmarks/service.py

docs: .venv/test.stamp ## Build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -n -b html docs docs/_build/html

clean: ## Remove environments and whatever was made here
	rm -rf .venv .venv-bench build dist demo figures screenshots docs/_build
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

.venv/demo.stamp: pyproject.toml scripts/environment
	@scripts/environment .venv plot
	@touch $@

.venv/test.stamp: pyproject.toml scripts/environment
	@scripts/environment .venv plot,postgres,server,spark test lint docs
	@touch $@

.venv-bench/bench.stamp: pyproject.toml scripts/environment
	@scripts/environment .venv-bench server,spark bench
	@touch $@
