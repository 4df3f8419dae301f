# Every target sets up what it needs by itself (see .ci/setup). `make` alone says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help check basics test demo fuzz bench size lab install generate unit sandbox deny scripts docs selftest integration

PREFIX ?= /usr/local
ROUNDS ?= 200
DIR ?= $(or $(TMPDIR),/tmp)/covergence-lab
NODE ?=

# Cargo tools that .ci/setup builds where the machine has none.
export PATH := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/covergence/tools/bin:$(PATH)
STAGE := .ci/stage
SCRIPTS = $(shell find .ci src tests manifests deploy -type f -perm -u+x -exec grep -lE '^\#!/usr/bin/env bash' {} +)

# Of a run that is all right, the numbers are enough.
QUIETLY = $(if $(shell cargo nextest --version 2>/dev/null),--status-level fail)
# Files of tests/it that ask the API and little else: they take seconds, so that they can be run all the time.
QUICK := cases_|reference_|plan_|prune_guards|order::|inventory|own_unit|identity|permissions|policies|status_command
QUICK := $(QUICK)|tree_command|controller_converges|controller_drift|controller_order|controller_observed|sandbox_kinds
QUICK := $(QUICK)|demo::on_the_sandbox

help: ## Say what there is
	@echo 'Covergence: make a cluster look like a folder or a git ref, and see first what that changes.'
	@echo
	@echo '  make demo      see it work: a repository, diff, sync, coverage by a commit, drift, prune'
	@echo '  make test      everything that CI checks'
	@echo
	@echo 'Every day:'
	@echo '  make check     format, lints, unit tests, and the quick part of the suite on a sandbox; no cluster'
	@echo '  make lab       start a Kubernetes control plane to play with, in DIR ($(DIR));'
	@echo '                 with NODE=1 and as root, one that runs pods'
	@echo '  make generate  write the generated files anew: deploy/crds.yaml, and the kinds of the sandbox'
	@echo '  make bench     measure: commands side by side with kubectl, and the service as it grows'
	@echo '  make size      how much the sandbox adds to the release binary, which is built twice for it'
	@echo '  make fuzz      break the files of tests/corpus in ROUNDS ($(ROUNDS)) times 500 ways more and read them'
	@echo '  make install   covergence and kubectl-covergence into PREFIX/bin ($(PREFIX)/bin)'
	@echo
	@echo 'Single stages of test: unit sandbox deny scripts docs selftest integration'
	@echo
	@echo 'The first run installs what is missing (as root; otherwise it says what to install) and builds Kubernetes'
	@echo 'from source for the lab, once. KUBEBUILDER_ASSETS=FOLDER uses the etcd and kube-apiserver there instead.'

check: basics ## Format, lints, unit tests, and what is quick of the suite, on a sandbox
	@$(STAGE) 'quick part of the suite on a sandbox' tests/run --sandbox --locked --test it --no-fail-fast $(QUIETLY) -E 'test(/^($(QUICK))/)'

basics:
	@.ci/setup check
	@$(STAGE) 'format' cargo fmt --check
	@$(STAGE) 'lints' cargo clippy --locked --quiet --all-targets -- -D warnings
	@$(MAKE) --no-print-directory unit

unit: ## Unit tests
	@if cargo nextest --version >/dev/null 2>&1; then \
	  $(STAGE) 'unit tests' cargo nextest run --locked --lib --no-fail-fast --status-level fail; \
	else \
	  $(STAGE) 'unit tests' cargo test --locked --quiet --lib --no-fail-fast; \
	fi

sandbox: ## The suite on Covergence's own API
	@.ci/setup check
	@$(STAGE) 'suite on a sandbox' tests/run --sandbox --locked --test it --no-fail-fast $(QUIETLY)

test: ## Everything
	@$(STAGE) 'setup' .ci/setup test
	@$(MAKE) --no-print-directory basics
	@$(MAKE) --no-print-directory deny scripts docs
	@$(MAKE) --no-print-directory sandbox
	@$(MAKE) --no-print-directory selftest
	@$(MAKE) --no-print-directory integration
	@$(STAGE) 'demo' $(MAKE) --no-print-directory demo

deny: ## Licences, sources and unwanted crates of the dependencies
	@.ci/setup test
	@$(STAGE) 'dependencies' cargo deny --locked check --hide-inclusion-graph bans licenses sources

scripts: ## Shell scripts
	@.ci/setup packages
	@$(STAGE) 'scripts' shellcheck --external-sources $(SCRIPTS)

docs: ## Documentation of the code
	@.ci/setup build
	@$(STAGE) 'code docs' env RUSTDOCFLAGS='-D warnings' cargo doc --locked --quiet --no-deps --document-private-items
	@$(STAGE) 'doc tests' cargo test --locked --quiet --doc

selftest: ## The lab keeps its promises
	@.ci/setup packages
	@$(STAGE) 'lab selftest' tests/lab/selftest

integration: ## The suite against a real API server
	@.ci/setup test
	@$(STAGE) 'integration tests' tests/run --rights --locked --test it --no-fail-fast

demo: ## See it work
	@.ci/setup build
	@cargo build --locked
	@target/debug/covergence demo

fuzz: ## What CI does a little of, for longer
	@.ci/setup build
	@COVERGENCE_FUZZ=$(ROUNDS) cargo test --locked --release --test it load_fuzz

bench: ## Measure
	@.ci/setup build
	@cargo bench --locked --bench side_by_side

size: ## How much the sandbox adds
	@.ci/setup build
	@tests/size

lab: ## A control plane to play with
	@.ci/setup packages
	@tests/lab/lab status --dir '$(DIR)' >/dev/null 2>&1 || tests/lab/lab up --dir '$(DIR)' $(if $(NODE),--node) >/dev/null
	@echo 'A Kubernetes control plane runs. Use it with:'
	@echo
	@echo '  export KUBECONFIG=$(DIR)/kubeconfig'
	@echo '  kubectl get namespaces            # or, without kubectl: $$(tests/lab/lab assets)/kubectl'
	@echo '  cargo run -- diff manifests/'
	@echo
	@echo 'End it with:'
	@echo
	@echo '  tests/lab/lab down --dir $(DIR) --purge'

install: ## The binary and the kubectl plugin
	@.ci/setup build
	cargo build --locked --release
	install -D -m 0755 target/release/covergence '$(DESTDIR)$(PREFIX)/bin/covergence'
	ln -sfn covergence '$(DESTDIR)$(PREFIX)/bin/kubectl-covergence'

generate: ## Generated files
	@.ci/setup build
	@cargo build --locked
	@mkdir -p deploy
	target/debug/covergence crd >deploy/crds.yaml
	src/sandbox/types/generate
