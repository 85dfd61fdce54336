# make help lists the targets.  Each makes its own .venv and installs only what is missing or stale.
PYTHON  ?= python3
VENV    ?= .venv
JOBS    ?= 2
SECONDS ?= 60

BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
NATIVE := CMakeLists.txt $(wildcard native/*.?pp native/*/*.?pp)
# A new package has to be made known to the editable install; new modules of a known one are found by themselves.
PACKAGES := $(wildcard src/mercer/*/__init__.py src/mercer/*/*/__init__.py)
CPP    := $(wildcard native/*.?pp native/*/*.?pp)
PIP     = $(BIN)/python -m pip --disable-pip-version-check -qq
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

# Requirements come from pyproject.toml alone: $(call requirements,<a Python expression on its contents p>).
requirements = $(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); print(*$(1), sep='\n')"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run demo test lint bench docs isas sanitize sanitized fuzz clean env

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

run: $(STAMPS)/native $(STAMPS)/show ## the short demonstration, some ten seconds: pictures, proofs, a witness, machines
	@$(BIN)/mercer demo --quick

demo: $(STAMPS)/native $(STAMPS)/show ## the whole demonstration, on all of the bundled data
	@$(BIN)/mercer demo

# Many tests start processes of their own, which share compiled modules.  There is a worker for each core: further
# threads of BLAS would only wait for each other.
test: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/show ## the whole test suite, doctests included
	@PYTHONDONTWRITEBYTECODE= OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(ARGS)

lint: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/dev ## ruff, mypy --strict, clang-format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict src/mercer
	@$(BIN)/clang-format --dry-run -Werror $(CPP)

bench: $(STAMPS)/native $(STAMPS)/bench ## the benchmarks behind every figure in the README
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(STAMPS)/native $(STAMPS)/docs ## the documentation, into docs/_build/html
	@$(BIN)/sphinx-build -q -W --keep-going -j $(JOBS) -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

fuzz: $(STAMPS)/native $(STAMPS)/test ## native core and compiler for SECONDS=60 each, 2,000 odd inputs, expressions, SVM problems
	@$(BIN)/python tests/engine/fuzz_native.py --seconds $(SECONDS)
	@$(BIN)/python tests/engine/fuzz_compiler.py --seconds $(SECONDS)
	@$(BIN)/python tests/machines/fuzz_inputs.py --cases 2000
	@HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -q -n auto tests/laws/test_expressions.py tests/machines/test_svm_libsvm.py

# Pairs of MERCER_ISA and OPENBLAS_CORETYPE.  The five cores are those that the wheels of NumPy and SciPy have kernels
# for (Zen runs those of Haswell).  What runs the first of a pair runs the second.
KINDS := baseline:Prescott baseline:Sandybridge avx2:Nehalem avx2:Haswell avx512:SkylakeX

isas: $(STAMPS)/native ## the whole test suite, five times: as processors of five kinds would run it
	@isas=" $$($(BIN)/python -c "from mercer import _native; print(*_native.available_isas())") "; failed=; \
	for kind in $(KINDS); do \
	  export MERCER_ISA=$${kind%:*} OPENBLAS_CORETYPE=$${kind#*:}; \
	  case "$$isas" in \
	    *" $$MERCER_ISA "*) echo "MERCER_ISA=$$MERCER_ISA OPENBLAS_CORETYPE=$$OPENBLAS_CORETYPE" ;; \
	    *) echo "left out: MERCER_ISA=$$MERCER_ISA, which this machine cannot run"; continue ;; \
	  esac; \
	  $(MAKE) --no-print-directory test || failed="$$failed $$kind"; \
	done; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

sanitize: ## the native tests and some fuzzing, built with ASan and UBSan in a .venv of its own (GCC)
	@$(MAKE) --no-print-directory VENV=.venv-sanitize BUILD_ARGS=--config-settings=cmake.define.MERCER_SANITIZE=ON sanitized

# The sanitizers must be in the process before Python is.  Leak detection is off: Python frees much only at its
# end, and each thread of the native core holds its scratch buffer.  Stack frames stay on the stack:
# copies of them (detect_stack_use_after_return) are not aligned for the vectors of AVX-512.
sanitized: $(STAMPS)/native $(STAMPS)/test
	@export LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:detect_stack_use_after_return=0 \
	  UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc && \
	$(BIN)/python -m pytest -q -p no:cacheprovider -m native $(or $(ARGS),tests) && \
	$(BIN)/python tests/engine/fuzz_native.py --seconds 20 && \
	$(BIN)/python tests/engine/fuzz_compiler.py --seconds 20

clean: ## everything that the other targets made
	rm -rf .venv .venv-sanitize build dist docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

env: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/show $(STAMPS)/dev ## the environment of a developer, nothing run

# -- the environment ---------------------------------------------------------------------------------------

# The first words of a build that cannot succeed say what to install.
check_compiler = @printf 'int main() { return []<class T>(T x) { return x; }(0); }' | \
  $$(command -v $${CXX:-c++} || command -v g++ || command -v clang++ || echo false) \
    -std=c++20 -fsyntax-only -x c++ - 2>/dev/null || { \
  echo "mercer needs a C++20 compiler: install g++ 11 or newer (Debian, Ubuntu: apt install g++;" \
       "Fedora: dnf install gcc-c++; macOS: xcode-select --install) or point CXX at one."; exit 1; }

$(STAMPS)/venv:
	$(check_compiler)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "mercer needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig as s; sys.exit(not os.path.exists(s.get_path("include") + "/Python.h"))' || \
	  { echo "mercer needs the headers of Python (Debian, Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"; \
	  exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS)
	@touch $@

$(STAMPS)/build: pyproject.toml $(STAMPS)/venv
	@echo "installing the build tools"
	@$(call requirements,p['build-system']['requires']) > $(STAMPS)/build.txt
	@$(PIP) install -r $(STAMPS)/build.txt "cmake>=3.24" ninja
	@touch $@

# Editable: edited Python is live at once, edited C++ is compiled again (incrementally) by the next make.
# (-C is short for --config-settings from pip 23.1 on; Debian 12 has 23.0.)
$(STAMPS)/native: pyproject.toml $(NATIVE) $(PACKAGES) $(STAMPS)/build
	$(check_compiler)
	@echo "building mercer"
	@$(PIP) install --no-build-isolation --config-settings=build-dir=$(VENV)/build $(BUILD_ARGS) -e .
	@touch $@

$(STAMPS)/show $(STAMPS)/test $(STAMPS)/bench $(STAMPS)/docs $(STAMPS)/dev: $(STAMPS)/%: pyproject.toml $(STAMPS)/venv
	@echo "installing the [$*] extra"
	@$(call requirements,p['project']['optional-dependencies']['$*']) > $(STAMPS)/$*.txt
	@$(PIP) install -r $(STAMPS)/$*.txt
	@touch $@
