"""Settings of the whole suite: properties are judged by their outcome, never by the clock."""

import gc
import importlib
import os
import sys
from importlib.util import find_spec

# Before torch is loaded: small sums are made sooner by one thread than by several, which wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest
from hypothesis import settings

TESTS, MARK = Path(__file__).parent, "pytestmark = pytest.mark.base"
sys.path.insert(0, str(TESTS))  # for `made_units`, which several folders share

from shapes import few_shapes, shapes, told_columns  # noqa: E402, F401  fixtures that several folders share

# Properties: a few examples in the suite of every day, more in continuous integration (--hypothesis-profile=thorough),
# both the same each time. `--hypothesis-profile=search` draws others at each call: for who looks for rare faults.
settings.register_profile("openworld", deadline=None, max_examples=10, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=300)
settings.load_profile("openworld")


class WithoutTorch:
    """Where torch is not installed, files of tests are read if they are marked `base`, and the folders of these."""

    def __init__(self):
        files = [path for path in TESTS.rglob("test_*.py") if MARK in path.read_text(encoding="utf-8")]
        self.read = {*files, *(folder for path in files for folder in path.parents)}

    def pytest_ignore_collect(self, collection_path):
        return None if collection_path in self.read else True


class OnlyFilesWithExamples:
    """Modules without a doctest are neither imported nor searched for one."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path):
        found = yield
        if file_path.suffix == ".py" and ">>> " not in file_path.read_text(encoding="utf-8"):
            return [collector for collector in found if type(collector) is pytest.Module]
        return found


def pytest_configure(config):
    """With `pytest -n`, the tests of a file share a worker, and with it the fixtures that are made once."""
    config.pluginmanager.register(OnlyFilesWithExamples())
    if find_spec("torch") is None:
        config.pluginmanager.register(WithoutTorch())
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadfile"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection():
    """What is imported and collected stays: Python need not look through it, now or later, for what nobody uses."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def no_second_look():
    """Nor through what the tests of a file leave: modules, caches, fixtures of the session."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    """Images that several tests read are encoded once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_a_person(shared_cache):
    """Tests never read or write the features of the person who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENWORLD_CACHE", str(shared_cache))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_measurement_of_latency():
    """Records tell how long a learner takes, which varies and is in no test but its own; one that is loaded by then."""
    costs = sys.modules.get("openworld.learners.engine.costs")
    with pytest.MonkeyPatch.context() as patch:
        if costs:
            patch.setattr(costs, "LONGEST", 0.0)
        yield


FEW = {
    "label_free.estimate.quotes.SOURCES": 4,
    "label_free.estimate.quotes.FEW_SOURCES": 3,
    "label_free.estimate.quotes.ALARM_SOURCES": 12,
    "estimators.quote.shift_alarm.SOURCES": 50,
    "estimators.quote.shift_alarm.TARGETS": 60,
    "estimators.quote.shift_signs.SETS": 20,
    "estimators.quote.alarm.YEARS": 500,
    "estimators.quote.learned_shifts.DRAWS": 2,
    "estimators.by_level.RESAMPLES": 15,
}


@pytest.fixture(scope="module")
def few_draws():
    """Sets like the source are drawn few times: what is said of them stays the same, however rough a rate is."""
    from openworld.estimators.quote.decision import evidence
    from openworld.estimators.quote.shift_signs import shift_signs

    with pytest.MonkeyPatch.context() as patch:
        for name, count in FEW.items():
            patch.setattr(f"openworld.{name}", count)
        for function in (shift_signs.__wrapped__, evidence):
            patch.setitem(function.__kwdefaults__, "deals", 199)
        yield


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """For tests that look into the cache: an empty one."""
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def foreign_folder(tmp_path_factory):
    """Architecture -> folder of a small random model of it, saved as transformers does, made once."""
    made = {}

    def folder(architecture):
        if architecture not in made:
            made[architecture] = foreign_models().saved(architecture, tmp_path_factory.mktemp(architecture))
        return made[architecture]

    return folder


@pytest.fixture
def open_clip(tmp_path, monkeypatch):
    """A stand-in for open_clip, as if it were installed."""
    monkeypatch.syspath_prepend(foreign_models().stand_in_for_open_clip(tmp_path / "packages"))
    yield
    sys.modules.pop("open_clip", None)


def foreign_models():
    """The module that makes them; it imports transformers, which takes seconds."""
    sys.path.insert(0, str(Path(__file__).parent / "reference"))
    try:
        return importlib.import_module("foreign_models")
    finally:
        sys.path.pop(0)


os.environ.setdefault("HF_HUB_OFFLINE", "1")
