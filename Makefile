# A thin face over CMake and Ninja. Each target first installs the Debian packages it lacks.
BUILD   ?= build
PREFIX  ?= /usr/local
WERROR  ?= OFF
SAN     := $(BUILD)/sanitize
RONDO   := $(BUILD)/rondo

.PHONY: build test-build sanitize demo test bench install fmt clean

build:
	@scripts/setup build
	@cmake -G Ninja -S . -B $(BUILD) -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(BUILD) rondo

test-build: build
	@scripts/setup test
	@cmake -G Ninja -S . -B $(BUILD) -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(BUILD) all unit_tests

sanitize: build
	@cmake -G Ninja -S . -B $(SAN) -DCMAKE_BUILD_TYPE=Debug -DRONDO_SANITIZE=ON -DCMAKE_C_FLAGS_DEBUG="-O1 -g" \
	  -DRONDO_WERROR=$(WERROR) >/dev/null
	@ninja --quiet -C $(SAN) rondo unit_tests fuzzers

demo: build
	@scripts/demo $(RONDO)

test: test-build sanitize
	@tests/all $(BUILD) $(SAN)

# For this machine's processor, as the peers are; BENCH=--quick for a minute's worth.
bench: build
	@scripts/setup bench
	@cmake -G Ninja -S . -B $(BUILD)/native -DRONDO_NATIVE=ON >/dev/null
	@ninja --quiet -C $(BUILD)/native all
	@bench/run $(BUILD)/native/rondo --portable $(RONDO) $(BENCH)

install: build
	@cmake --install $(BUILD) --prefix $(DESTDIR)$(PREFIX)

fmt:
	@scripts/setup fmt
	@find src include tests -name '*.[ch]' -exec clang-format -i {} + 2>/dev/null

clean:
	@rm -rf $(BUILD)
