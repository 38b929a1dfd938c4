# The targets that users and developers need. Each is a line or two; the logic is in tools/.
#   make -o setup TARGET     does not look for missing packages

FUZZ_SECONDS ?= 30
FUZZ_RUNS ?= 0
export FUZZ_SECONDS FUZZ_RUNS
ISOLATION_SECONDS ?= 5
VM_FORM ?= long
VM_TESTS ?=
TCP_BUILDS ?= sf64 ct64

.DEFAULT_GOAL := help
.PHONY: help setup hooks gen build demo demo-fabric test isolation test-vm test-vm-rtl test-vm-debug vm lint rtl-model lint-rtl test-rtl formal synth test-field test-tcp fuzz-tcp tap-tcp report-tcp report-endpoint bench miri sanitize fuzz soak docs deb clean

help: ## list the targets (default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## install missing packages
	@tools/setup.sh build

hooks: ## let git check the message of each commit in this clone
	git config core.hooksPath tools/hooks

gen: setup ## regenerate what comes from the contract and the cores' registers.toml
	python3 contract/gen/generate.py

build: setup ## build the library, the devices and the tools
	cargo build --release --workspace --exclude spfe-fuzz-replay

demo: build ## measure the built-in device in a minute and write a report
	target/release/spfe perf tables --quick --published --report target/demo
	@echo 'The report is in target/demo/'

demo-fabric: build ## a PCIe fabric of twelve nodes: table, traffic, limited links beside published figures; two minutes
	@tools/fabric_demo.sh

test: setup ## every check and test; the last line is "N passed, N failed, N skipped"
	-@tools/setup.sh test
	-@tools/setup.sh rtl
	-@tools/setup.sh vm
	@tools/test.sh

test-vm: setup ## the Linux driver in virtual machines, all of it (VM_FORM=short: as in make test)
	@tools/setup.sh vm
	@VM_FORM=$(VM_FORM) tools/test.sh vm

test-vm-rtl: setup ## the driver in a virtual machine with two simulated cores (VM_TESTS="packets life")
	@tools/setup.sh vm
	@tools/setup.sh rtl
	@tools/rtl_model.sh
	cargo build --release -p spfed -p spfe-cli -p spfe-conformance --features spfed/rtl
	tests/vm/run.sh --rtl $(VM_TESTS)

test-vm-debug: setup ## the same on a kernel that reports errors of memory, locks and DMA (VM_TESTS="life net")
	@tools/setup.sh vm
	@VM_FORM=debug VM_TESTS="$(VM_TESTS)" STEP_TIMEOUT=21600 tools/test.sh vm

vm: build ## a machine with the driver and two devices: a shell, or VM_COMMAND="spfe ..."
	tests/vm/play.sh $(VM_COMMAND)

isolation: setup ## measure what a hostile client of a daemon does to others (ISOLATION_SECONDS=5)
	cargo build --release -p spfed --examples
	ISOLATION_SECONDS=$(ISOLATION_SECONDS) cargo test --release -p spfed --test attacks -- --nocapture

lint: setup ## only the checks of generated files, format, scripts and Rust code
	@tools/test.sh lint

test-field: build ## OpenC3 and Yamcs with our interfaces to them; installs 270 MB the first time
	tools/field.sh

test-tcp: setup ## the TCP core in simulation: scripts, other stacks, fuzzing, Linux; minutes (TCP_BUILDS="sf64 ct64")
	@tools/setup.sh rtl test
	@TCP_FORM=full TCP_BUILDS="$(TCP_BUILDS)" tools/test.sh tcp

fuzz-tcp: setup ## a million mutated frames (TCP_FRAMES) against one state of the TCP core, in lock-step with a model; resumes
	@tools/setup.sh rtl
	tools/tcp_fuzz.sh $(TCP_FRAMES)

report-tcp: setup ## measure the TCP core in virtual time, check it in short, and write target/rtl/report
	@tools/setup.sh rtl
	tools/tcp_report.sh

report-endpoint: setup ## measure the endpoint core in cycles, and write target/rtl/endpoint
	@tools/setup.sh rtl
	tools/endpoint_report.sh

tap-tcp: setup ## a shell in a network namespace in which the simulated TCP core is 10.0.0.1 (TAP_COMMAND="curl ...")
	@tools/setup.sh rtl
	cargo run --release --manifest-path rtl/bench/Cargo.toml --bin tcp-bench -- tap $(TAP_COMMAND)

rtl-model: ## a simulated core for devices rtl: (RTL_MODEL="PORTS LANES VCS [wires=N] [pair|target]")
	@tools/setup.sh rtl
	@tools/rtl_model.sh $(RTL_MODEL)

lint-rtl: setup ## the hardware description: warnings, house style, what synthesis reads
	@tools/setup.sh rtl
	@tools/rtl.sh lint

test-rtl: setup ## block tests of the hardware description
	@tools/setup.sh rtl
	@tools/rtl.sh test

formal: setup ## proofs of the primitives of the hardware description
	@tools/setup.sh rtl
	@tools/rtl.sh formal

synth: setup ## record what changed RTL takes, and its clock rates in an ECP5; all of it takes hours
	@tools/setup.sh rtl
	@tools/rtl.sh synth --record

bench: setup ## full measurements, beside the peers on this machine
	@tools/setup.sh bench
	tools/bench.sh

miri: ## look for undefined behaviour in ring and device code with Miri (nightly Rust; MIRI=all: minutes)
	@tools/miri.sh $(if $(filter all,$(MIRI)),,--quick)

sanitize: ## tests with the sanitizers of addresses and threads (nightly Rust)
	@tools/sanitize.sh

fuzz: setup ## fuzz each target for FUZZ_SECONDS (30) or FUZZ_RUNS; FUZZ=--resume continues a long run
	@tools/setup.sh fuzz
	tools/fuzz.sh $(FUZZ)

soak: build ## random loads and faults for a long time: links, the TCP core
	tools/soak.sh

docs: build ## library documentation and manual pages, under target/
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --exclude spfe-fuzz-replay --no-deps
	target/release/spfe man target/man

deb: setup ## Debian packages, in target/deb
	@tools/setup.sh deb
	tools/deb.sh

clean: ## remove everything that was built
	rm -rf target bench/out fuzz/target crates/*/fuzz/target
