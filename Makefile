# The two commands that matter: `make run` starts Roost, `make test` tests it.
# SERVE="--simulate 4xH100 --http 127.0.0.1:8081" and PYTEST="-k queue" pass more words on.
SERVE ?= --auto-simulate --http 127.0.0.1:8470
PYTEST ?=
IN = @scripts/with-environment

.PHONY: run test lint bench clean

run:
	$(IN) run roost serve $(SERVE)

test: lint
	$(IN) dev python -m pytest $(PYTEST)

lint:
	$(IN) dev ruff check .
	$(IN) dev ruff format --check .
	$(IN) dev mypy
	$(IN) dev lint-imports

bench:
	$(IN) dev python -m benchmarks.queue --write

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache
