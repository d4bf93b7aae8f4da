SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps demo test test-unit test-e2e lint generate build bench clean

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# More arguments for the program that demo and bench run.
ARGS ?=
# The race detector needs a C compiler.
RACE ?= $(if $(shell command -v gcc || command -v clang),-race)

# Tools are pinned in modules of their own. Go compiles one on first use and
# keeps the program in its build cache.
tool = $(GO) tool -modfile=tools/$(1)/go.mod $(2)

help: ## Show this help
	@echo 'Usage: make TARGET [ARGS=...]'
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## Get the servers that tests and demo need (20 min the first time, then nothing)
	@$(GO) run ./tests/parts/deps

demo: deps ## Start everything on this machine and show the story (ARGS=--once to end by itself)
	@$(GO) run ./cmd/seedmend dev $(ARGS)

test: deps lint test-unit test-e2e ## Lint and run every test on real servers

test-unit: ## Run every test but the end-to-end ones
	@[ -n "$(RACE)" ] || echo 'no C compiler: testing without the race detector'
	$(GO) test $(RACE) -timeout 40m $$($(GO) list ./... | grep -v -e '/tests/e2e' -e '/tests/bench')

test-e2e: ## Run the end-to-end tests
	$(GO) test $(RACE) -count=1 -p 2 -timeout 40m ./tests/e2e/...

lint: ## Check format, code, workflows and chart (compiles the linters the first time)
	@echo 'lint: linters and helm are compiled on first use, which takes some 10 min on 2 cores, and then cached'
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt these files:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(call tool,lint,golangci-lint) run ./...
	$(call tool,workflowcheck,workflowcheck) -config tools/workflowcheck/config.yaml ./workflows/...
	$(call tool,helm,helm) lint --strict k8s/chart

generate: ## Write generated code, CRDs and the chart's copy of them
	$(GO) generate ./...
	rm -rf k8s/chart/files/crds && mkdir -p k8s/chart/files/crds && cp k8s/crds/*.yaml k8s/chart/files/crds/

build: ## Build bin/seedmend, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/seedmend ./cmd/seedmend

bench: deps ## Measure a backlog and single requests on this machine
	@$(GO) run ./tests/bench $(ARGS)

clean: ## Remove what build made (the cache of servers stays: it is shared by all checkouts)
	rm -rf bin
