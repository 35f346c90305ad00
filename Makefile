# A thin face over CMake and Ninja. Each target first installs the Debian packages it lacks.
BUILD   ?= build
PREFIX  ?= /usr/local
WERROR  ?= OFF
SAN     := $(BUILD)/sanitize
CLANG    = $(BUILD)/clang
TRAINED := $(BUILD)/trained
WASM    := $(BUILD)/wasm
RONDO   := $(BUILD)/rondo

.NOTPARALLEL: # ninja is
.PHONY: build wasm test-build sanitize clang demo test test-all oracle fuzz trained bench install install-setup deb tarball fmt clean

build:
	@scripts/setup build
	@test -x $(RONDO) || echo "building rondo, which takes about a minute"
	@cmake -G Ninja -S . -B $(BUILD) -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(BUILD) rondo

# rondo for node, in WebAssembly: build/wasm/rondo.js.
wasm:
	@scripts/setup wasm
	@jansson=$$(scripts/jansson-source $(BUILD)/jansson) && cmake -G Ninja -S . -B $(WASM) \
	  -DCMAKE_TOOLCHAIN_FILE=$$(em-config EMSCRIPTEN_ROOT)/cmake/Modules/Platform/Emscripten.cmake \
	  -DRONDO_Z3=OFF -DRONDO_THREADS=OFF -DRONDO_JANSSON_SOURCE=$$jansson -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(WASM) rondo

# UNIT=unit_trials: of the unit tests only those that the short version runs in this build.
UNIT ?= unit_tests
test-build:
	@scripts/setup build
	@test -x $(RONDO) || echo "building rondo, which takes about a minute"
	@cmake -G Ninja -S . -B $(BUILD) -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(BUILD) rondo & scripts/setup test; installed=$$?; wait $$! && exit $$installed
	@cmake -G Ninja -S . -B $(BUILD) -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(BUILD) all fork_server $(UNIT)

sanitize: build
	@test -x $(SAN)/rondo || echo "building rondo and its unit tests with sanitizers, which takes some minutes"
	@cmake -G Ninja -S . -B $(SAN) -DCMAKE_BUILD_TYPE=Debug -DRONDO_SANITIZE=ON -DCMAKE_C_FLAGS_DEBUG="-Og -g1" \
	  -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(SAN) rondo fork_server unit_tests fuzzers

# The same by clang, whose sanitizers notice other things, with its fuzzer: rondo and the harnesses of tests/fuzz. Not optimised, which takes a fifth of the time.
CLANG_FLAGS = -O0 -g1
clang: build
	@scripts/setup fuzz
	@test -x $(CLANG)/rondo || echo "building rondo and the fuzzers with clang's sanitizers, which takes some minutes"
	@cmake -G Ninja -S . -B $(CLANG) -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DRONDO_SANITIZE=ON -DRONDO_FUZZ=ON \
	  -DCMAKE_C_FLAGS_DEBUG="$(CLANG_FLAGS)" -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(CLANG) rondo fuzzers

demo: build
	@scripts/demo $(RONDO)

# test-all: the same suites, on more models and larger ones; half an hour instead of some minutes.
test: UNIT = unit_trials
test: test-build sanitize clang
	@tests/all $(BUILD) $(SAN)

test-all: test-build sanitize clang
	@tests/all --full $(BUILD) $(SAN)

# Each harness of tests/fuzz for ten minutes: MINUTES=1 for less. What is found is kept in build/fuzz/fuzz.
MINUTES ?= 10
fuzz: CLANG = $(BUILD)/fuzz
fuzz: CLANG_FLAGS = -O1 -g1
fuzz: clang
	@tests/run-fuzz --long $(MINUTES) $(CLANG)

# Random models against the independent interpreter in tests/oracle, for two hours: HOURS=0.5 for less. SEED= repeats a run.
HOURS ?= 2
SEED  ?= $(shell date +%s)
oracle: build
	@echo "seed $(SEED)"
	@tests/oracle/run --rondo $(RONDO) --seed $(SEED) --all-modes --jobs $$(nproc) \
	  --seconds $$(awk 'BEGIN { print int($(HOURS) * 3600) }')

# For this machine's processor, and compiled by where it goes: a tenth faster, and takes some minutes.
trained:
	@scripts/setup build
	@rm -rf $(TRAINED)
	@cmake -G Ninja -S . -B $(TRAINED) -DRONDO_NATIVE=ON -DRONDO_TRAIN=count >/dev/null
	@ninja --quiet -C $(TRAINED) rondo
	@scripts/train $(abspath $(TRAINED))/rondo
	@cmake -G Ninja -S . -B $(TRAINED) -DRONDO_TRAIN=use >/dev/null
	@ninja --quiet -C $(TRAINED) all

# BENCH=--quick for a minute's worth, once that is built.
bench: build
	@scripts/setup bench
	@$(MAKE) --no-print-directory trained
	@bench/run $(TRAINED)/rondo --portable $(RONDO) $(BENCH)

install: install-setup build
	@ninja --quiet -C $(BUILD) all
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

# Debian packages in build/deb, and what lintian says about them.
deb: install-setup build
	@scripts/setup deb
	@ninja --quiet -C $(BUILD) all
	@scripts/deb $(BUILD)

# A program without shared libraries, for any Linux: build/static/rondo-VERSION-ARCHITECTURE.tar.gz. Debian has no static libz3, so it has no solver.
STATIC := $(BUILD)/static
tarball: install-setup
	@cmake -G Ninja -S . -B $(STATIC) -DRONDO_Z3=OFF -DRONDO_EXPLORE=OFF -DRONDO_STATIC_PROGRAM=ON -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(STATIC) rondo manual
	@scripts/tarball $(STATIC)

install-setup:
	@scripts/setup install

fmt:
	@scripts/setup fmt
	@find src include tests bench -name '*.[ch]' -exec clang-format -i {} +

clean:
	@rm -rf $(BUILD)
