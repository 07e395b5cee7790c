"""Learners of other packages: found by their entry points, refused by name, never in the way of ours."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from openworld import OpenworldError
from openworld import learners as plugins
from openworld.core import plugins as loading
from openworld.learners import LEARNERS

BROKEN = {
    "Raises": ("raises_on_import:Learner", "ZeroDivisionError"),
    "Absent": ("no_such_module:Learner", "No module named 'no_such_module'"),
    "Nameless": ("empty_class:Learner", "it has no name, paper"),
    "Renamed": ("halfway:Halfway", "calls itself 'Halfway'"),
    "CoOp": ("halfway:Halfway", "openworld has a learner 'CoOp' of its own"),
}
MODULES = {
    "raises_on_import": "1 / 0",
    "empty_class": "class Learner:\n    fit = None\n",
    "ends_the_process": "import os; os._exit(0)",
    "ends_it_below": "import posix; posix._exit(0)",
    "crashes": "import os; os.abort()",
    "stops": "raise KeyboardInterrupt",
    "closes": "import sys; sys.stdout.close()",
    "replaces": "import io, sys; sys.stdout = io.StringIO()",
}


@pytest.fixture
def installed(tmp_path, monkeypatch, repository):
    """Makes packages that look installed: each offers learners by entry points."""
    monkeypatch.syspath_prepend(str(repository / "examples" / "plug_in"))
    made, there = [], loading.entry_points
    # Whatever else is installed on this machine does not count.
    monkeypatch.setattr(loading, "entry_points", lambda group: [e for e in there(group=group) if e.dist.name in made])

    def install(package: str, **offered: str):
        made.append(package)
        place = tmp_path / package
        folder = place / f"{package.replace('-', '_')}-1.2.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        lines = [f"{name} = {value}" for name, value in offered.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[openworld.learners]", *lines, ""]))
        for module, code in MODULES.items():
            (place / f"{module}.py").write_text(code)
        monkeypatch.syspath_prepend(str(place))

    yield install
    for module in (*MODULES, "halfway"):
        sys.modules.pop(module, None)
    loading._loaded.cache_clear()


def test_a_plug_in_is_a_learner_like_ours(installed):
    installed("their-package", Halfway="halfway:Halfway")
    assert plugins.find_learner("Halfway").name == "Halfway"
    assert list(plugins.all_learners()) == [*LEARNERS, "Halfway"]
    assert plugins.broken_plugins() == {}
    assert plugins.origin("Halfway") == "their-package 1.2"
    assert "Halfway" not in LEARNERS


def test_ours_are_found_without_looking_at_plug_ins(monkeypatch):
    monkeypatch.setattr(loading, "entry_points", None)
    assert plugins.find_learner("GMoP") is LEARNERS["GMoP"]
    assert plugins.origin("GMoP") == ""


def test_an_unknown_name_lists_plug_ins_too(installed):
    installed("their-package", Halfway="halfway:Halfway")
    with pytest.raises(OpenworldError, match="did you mean 'Halfway'.*CoOp.*Halfway"):
        plugins.find_learner("halfwy")


def test_broken_plug_ins_are_named_and_take_nothing_with_them(installed):
    installed("their-package", Halfway="halfway:Halfway", **{name: value for name, (value, _) in BROKEN.items()})
    assert list(plugins.all_learners()) == [*LEARNERS, "Halfway"]
    told = plugins.broken_plugins()
    assert set(told) == set(BROKEN)
    for name, (_, reason) in BROKEN.items():
        assert f"'{name}' of their-package 1.2 cannot be used" in told[name]
        assert reason in told[name]


def test_two_packages_that_bring_one_name_are_both_refused(installed):
    installed("their-package", Halfway="halfway:Halfway")
    installed("another-package", Halfway="halfway:Halfway")
    with pytest.raises(OpenworldError, match="brings one of that name too; uninstall one of them"):
        plugins.find_learner("Halfway")


def test_an_entry_point_without_a_package_is_named_by_its_value(monkeypatch):
    entry = SimpleNamespace(name="Loose", value="nowhere:Loose", dist=None, load=lambda: 1)
    with pytest.raises(OpenworldError, match="'Loose' of nowhere:Loose cannot be used: nowhere:Loose is no learner"):
        loading._loaded.__wrapped__("learner", ("name",), "name", type, entry)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("raises_on_import:Learner", "ZeroDivisionError"),
        ("ends_the_process:Learner", "SystemExit: os._exit(0)"),
        ("ends_it_below:Learner", "SystemExit: os._exit(0)"),
        ("stops:Learner", "KeyboardInterrupt"),
    ],
)
def test_a_broken_plug_in_says_so_when_it_is_asked_for_and_cannot_end_the_command(installed, value, reason):
    installed("their-package", Ends=value)
    with pytest.raises(OpenworldError) as told:
        plugins.find_learner("Ends")
    assert "'Ends' of their-package 1.2 cannot be used" in str(told.value) and reason in str(told.value)
    assert os._exit.__name__ == "_exit"


def test_an_interrupt_that_a_signal_brought_is_one(installed):
    installed("their-package", Halfway="halfway:Halfway")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt), loading.failures_named("learner", "Halfway", "their-package", "used"):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def import_in_another_process(*modules):
    """Imports modules as those of plug-ins are imported, and then prints."""
    code = f"import sys; sys.path[:0] = {sys.path[:3]!r}\nfrom openworld.core.plugins import failures_named\n"
    code += f"for module in {modules}:\n    with failures_named('learner', 'Ends', 'theirs', 'used'):\n"
    code += "        __import__(module)\nprint('printed')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_a_plug_in_leaves_standard_output_open(installed):
    installed("their-package")
    done = import_in_another_process("replaces", "closes")
    assert (done.returncode, done.stdout) == (0, "printed\n"), done.stderr


def test_a_plug_in_that_crashes_below_python_is_seen_in_what_is_printed(installed):
    installed("their-package")
    done = import_in_another_process("crashes")
    assert done.returncode != 0 and "crashes.py" in done.stderr and not done.stdout
