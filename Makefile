# SPDX-License-Identifier: Apache-2.0
#
# Few targets, each for one purpose. 'make help' lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# No C compiler is needed, and paths of the builder stay out of what is built. The same flags everywhere let all builds
# share one cache.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false
# The Go of this machine is the one that is used; nothing is downloaded in its place.
export GOTOOLCHAIN := local

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# The linter remembers absolute paths, so its memory belongs to this checkout: that of another one, since deleted, would
# make it fail here.
export GOLANGCI_LINT_CACHE := $(CURDIR)/bin/lint-cache

# Tools are pinned in a module file of their own, so that go.mod stays clean. Go builds them once and caches them.
TOOL := go tool -modfile=go.tools.mod

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/minos, bin/minos-operator and bin/minos-signer.
	@mkdir -p bin
	go build $(BUILD) -ldflags '$(LDFLAGS)' -o bin/ ./cmd/minos ./cmd/minos-operator ./cmd/minos-signer

.PHONY: kube
kube: ## Build bin/minos-kube, the control plane for development and tests (ten minutes the first time, then cached).
	@kube/build

.PHONY: peers
peers: ## Build bin/peers: the programs of others that ours is held against.
	@mkdir -p bin/peers
	go build -modfile=go.peers.mod -o bin/peers/ github.com/budimanjojo/talhelper/v3 github.com/getsops/sops/v3/cmd/sops

# The stories of the operator as a whole take minutes, in which they mostly wait: twice as many packages as processors at a time.
.PHONY: test
test: kube peers ## Run all tests, on a real control plane.
	go test -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) -timeout 30m ./...
	go -C kube test ./...
	@$(MAKE) --no-print-directory fuzz

# Every fuzz target a little, from its seeds: a number of runs and not a time, because Go fails a target whose time ends at
# a bad moment (golang/go#75804). For more, which also remembers what it found: make fuzz FUZZ='-fuzztime 1000000x'
FUZZ ?= -fuzztime 200x -fuzzminimizetime 20x -args -test.fuzzcachedir=$(CURDIR)/bin/fuzz-cache
.PHONY: fuzz
fuzz: ## Look for inputs that break parsers.
	@rm -rf bin/fuzz-cache && mkdir -p bin/fuzz-cache
	@grep -rHoE '^func Fuzz[A-Za-z0-9]+' --include='*_test.go' --exclude-dir=kube . | sort | while IFS=: read -r file name; do \
		echo "fuzz $$(dirname $$file) $${name#func }"; \
		go test -run '^$$' -fuzz "^$${name#func }$$" "$$(dirname $$file)" $(FUZZ) || exit 1; done

.PHONY: lint
lint: ## Look for what the compiler does not see.
	$(TOOL) golangci-lint run ./...
# Three linters would read all of Kubernetes for these few files, which takes minutes; the rest reads the files alone.
	cd kube && go tool -modfile=../go.tools.mod golangci-lint run --config ../.golangci.yml --disable staticcheck,unparam,govet ./...

.PHONY: generate
generate: ## Write everything that is generated: deep copies, definitions, reference pages.
	$(TOOL) controller-gen object:headerFile=api/header.txt paths=./api/v1alpha1 output:object:dir=api/v1alpha1
	$(TOOL) controller-gen crd paths=./api/v1alpha1 output:crd:dir=charts/minos/crds
	$(TOOL) controller-gen rbac:roleName=minos-operator paths=./controller/... output:rbac:dir=charts/minos/operator
	go run ./docs/reference
	go run ./docs/rules
	go run ./docs/bench
	go test . -run '^TestArchitecture$$' -update

.PHONY: verify
verify: generate lint ## Generate and lint, and fail if that changed anything.
	go mod tidy -diff
	go -C kube mod tidy -diff
	@changed=$$(git status --porcelain); if [ -n "$$changed" ]; then \
		echo "the tree is not clean after generating; commit what changed:"; \
		git --no-pager diff --stat; echo "$$changed"; exit 1; fi

# The commit in full, and its time: how many letters short names have, and what the clock says, differ from one clone to another.
.PHONY: release
release: ## Build out/release: the programs for every platform, bills of materials, archives, checksums.
	@go run ./release -version '$(VERSION)' -commit "$$(git rev-parse HEAD)" -epoch "$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}"

# The benches of the operator grow to a thousand machines and to two hundred clusters. To try them with fewer:
# make bench BENCH_MACHINES=10,20 BENCH_CLUSTERS=10,20
KEEP := | tee -a bin/bench.txt
.PHONY: bench
bench: build peers kube ## Measure, as ratios within one run, which bin/bench.txt keeps.
	go run ./docs/bench machine | tee bin/bench.txt
	go test -run '^$$' -bench . -benchtime 5s ./api/load $(KEEP)
	go test -run '^$$' -bench History -benchtime 5x ./gather $(KEEP)
	go test -run '^$$' -bench Render -benchtime 5x ./cmd/minos $(KEEP)
	go test -run '^$$' -bench Check -benchtime 3x ./cmd/minos $(KEEP)
	go test -run '^$$' -bench Clusters -benchtime 3x ./check $(KEEP)
	go test -run '^$$' -bench . -benchtime 10s ./cmd/minos-signer $(KEEP)
	go test -run '^$$' -bench Join -benchtime 1x -timeout 30m ./sim/machine $(KEEP)
	go test -run '^$$' -bench 'Pools|Machines' -benchtime 1x ./cmd/minos-operator $(KEEP)
	STEADY_CLUSTERS=100 go test -run '^TestSteady$$' -v -timeout 30m ./cmd/minos-operator

.PHONY: bench-page
bench-page: ## Write docs/bench.md and its plots from what the last 'make bench' measured.
	go run ./docs/bench keep bin/bench.txt

# For as long as asked, and with the story of a seed: make soak SOAK=1h SEED=7
SOAK ?= 10m
SEED ?= 0
.PHONY: soak
soak: build kube ## Run clusters while everything goes wrong, and hold them to what must hold.
	@bin/minos sim soak --for $(SOAK) --seed $(SEED)

# It builds what it needs itself, and shows how far that is.
.PHONY: demo
demo: ## Show it: a folder that is checked and rendered, then everything on this machine, with a tenant's cluster in it.
	@sim/demo
