"""`openworld list` with learners, detectors and estimators of other packages, whole and broken ones."""

import subprocess
import sys

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.core import plugins

BASE = {
    "learners": "from openworld.learners import CoOp as Ours",
    "detectors": "from openworld.detectors import MSP as Ours",
    "estimators": "from openworld.estimators import AC as Ours",
}
FAULTS = {
    "leaves": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "stops": ("raise GeneratorExit", "GeneratorExit"),
    "numbered": ("class Own(Ours):\n    name = 'numbered'\n    needs = cost = 7", "Error: "),
    "unnamed": ("class Own(Ours):\n    name = 'another'", "calls itself 'another'"),
}
OF_LEARNERS = {
    "publishes": (
        "class Own(Ours):\n    name = 'publishes'\n"
        "    @classmethod\n    def published(cls, *_):\n        return {}['x']",
        "KeyError",
    ),
    "quits": (
        "class Own(Ours):\n    name = 'quits'\n    def start(self, *asked):\n        raise SystemExit",
        "SystemExit",
    ),
}
WIDTH = (
    "import torch\nclass Own(Ours):\n    name = 'width'\n    def start(self, clip, classnames, generator):\n"
    "        return {'own': torch.zeros(3, clip.config.joint_dimension)}"
)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes a package that looks installed, with a module for each of its plug-ins."""
    there, modules = plugins.entry_points, []

    def install(kind: str, codes: dict[str, str]):
        folder = tmp_path / "theirs-1.2.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
        offered = "".join(f"{name} = own_{name}:Own\n" for name in codes)
        (folder / "entry_points.txt").write_text(f"[openworld.{kind}]\n{offered}")
        for name, code in codes.items():
            modules.append(f"own_{name}")
            (tmp_path / f"own_{name}.py").write_text(f"{BASE[kind]}\n{code}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(
            plugins, "entry_points", lambda group: [one for one in there(group=group) if one.dist.name == "theirs"]
        )

    yield install
    for module in modules:
        sys.modules.pop(module, None)
    plugins._loaded.cache_clear()


@pytest.mark.parametrize("kind", BASE)
def test_broken_plug_ins_are_named_and_the_others_listed(installed, kind):
    faults = FAULTS | (OF_LEARNERS if kind == "learners" else {})
    installed(
        kind, {name: code for name, (code, _) in faults.items()} | {"Whole": "class Own(Ours):\n    name = 'Whole'"}
    )
    done = CliRunner().invoke(app, ["list", kind])
    assert done.exit_code == 0, done.output
    lines = " ".join(done.output.split())
    for name, (_, reason) in faults.items():
        said = f"the plug-in {kind[:-1]} '{name}' of theirs 1.2 cannot be "
        assert said in lines and reason in lines.partition(said)[2], name
    ours = {"learners": "GMoP", "detectors": "ViM", "estimators": "COTT"}[kind]
    assert f"\n{ours} " in done.output and "\nWhole " in done.output and "(theirs" in done.output


def test_a_learner_that_asks_the_configuration_for_the_width_is_counted(installed):
    installed("learners", {"width": WIDTH})
    (row,) = [
        line for line in CliRunner().invoke(app, ["list", "learners"]).output.splitlines() if line.startswith("width ")
    ]
    assert " 1 536 " in row or " 1536 " in row or " 1 536 " in row


def test_a_module_of_ones_own_that_leaves_python_is_a_sentence(tmp_path):
    (tmp_path / "own_net.py").write_text("import sys\nsys.exit(0)\n")
    code = "from openworld.core.functions import find_function; find_function('own_net:net')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "'own_net:net' cannot be imported (SystemExit: 0)" in done.stderr
