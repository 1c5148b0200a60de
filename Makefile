# The everyday commands. `make test` is what must pass before a commit; `.ci/run` is all that must pass.
.PHONY: build demo test bench format lint setup
.DEFAULT_GOAL := build

JOBS ?= 2
SOURCES = git ls-files --cached --others --exclude-standard '*.h' '*.cc'

setup:
	scripts/setup

build: setup
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

demo: setup
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target fashion_mnist
	build/release/examples/fashion_mnist $(ARGUMENTS)

test: build
	ctest --preset release --parallel $(JOBS)

bench: build
	cmake --build --preset release --target libtorch_bench || true
	benchmarks/run build/release

format:
	CAPSTAN_SETUP_EXTRA=clang-format scripts/setup
	$(SOURCES) | xargs clang-format -i

# clang-tidy takes the commands of a build with clang: it stumbles over options that only GCC knows.
lint:
	CAPSTAN_SETUP_EXTRA="clang clang-format clang-tidy" scripts/setup
	$(SOURCES) | xargs clang-format --dry-run --Werror
	cmake --preset dev -B build/lint -DCMAKE_CXX_COMPILER=clang++
	git ls-files 'src/*.cc' | xargs --max-args=4 --max-procs=$(JOBS) clang-tidy -p build/lint --quiet
