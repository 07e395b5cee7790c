"""`openworld list`: a row for everything that there is, of other packages too; no kind waits for another."""

import sys

import pytest
from in_process import openworld

from openworld import backbones, classifiers, datasets, detectors, estimators, evaluations, learners, metrics
from openworld.api.listing import KINDS
from openworld.core import plugins
from openworld.learners.engine.costs import tuned_parameters

ENTRIES = {
    "learners": learners.LEARNERS,
    "detectors": detectors.DETECTORS,
    "estimators": estimators.ESTIMATORS,
    "classifiers": classifiers.ARCHITECTURES,
    "datasets": datasets.DATASETS,
    "backbones": backbones.BACKBONES,
    "metrics": metrics.METRICS,
    "evaluations": evaluations.EVALUATIONS,
}
TRAINS_ON = {"zero-shot": "nothing", "CoOp": "views", "GMoP": "plain", "LoCoOp": "patches", "VPT": "pixels"}
HUNDRED = ("learners", "detectors", "estimators", "classifiers")


def rows_of(kind):
    lines = openworld("list", kind, columns=100).stdout.splitlines()
    names = sorted(ENTRIES[kind], key=len)  # a row of the longer of two names that begin alike
    return {name: line for name in names for line in lines if f"{line} ".startswith(f"{name} ")}, lines


def facts(kind, name, entry):
    """What the row of an entry says beside its name."""
    if kind == "learners":
        size = f" {tuned_parameters(entry.published('')):,} ".replace(",", " ")
        return [entry.paper, size, entry.cost.split()[0], f" {TRAINS_ON.get(name, '')}"]
    return {
        "detectors": lambda: [entry.paper.split()[0], entry.needs[0]],
        "estimators": lambda: [entry.paper.split()[0], *entry.needs],
        "classifiers": lambda: ["11 220 132"] if name == "resnet-18" else [],
    }.get(kind, list)()


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_a_row_with_its_facts(kind):
    rows, lines = rows_of(kind)
    assert ENTRIES[kind].keys() <= rows.keys()
    for name, entry in ENTRIES[kind].items():
        assert all(fact in rows[name] for fact in facts(kind, name, entry)), rows[name]
    assert kind not in HUNDRED or max(map(len, map(str.rstrip, lines))) <= 100


BASE = {
    "learners": "from openworld.learners import CoOp as Ours",
    "detectors": "from openworld.detectors import MSP as Ours",
    "estimators": "from openworld.estimators import AC as Ours",
}
FAULTS = {
    "leaves": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "stops": ("raise GeneratorExit", "GeneratorExit"),
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
WHOLE = "class Own(Ours):\n    name = 'Whole'"
WIDE = (  # asks the configuration for the width
    "import torch\nclass Own(Ours):\n    name = 'Whole'\n    def start(self, clip, classnames, generator):\n"
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
    whole = {"Whole": WIDE if kind == "learners" else WHOLE}
    installed(kind, {name: code for name, (code, _) in faults.items()} | whole)
    done = openworld("list", kind, columns=100)
    assert done.exit_code == 0, done.output
    lines = " ".join(done.output.split())
    for name, (_, reason) in faults.items():
        said = f"the plug-in {kind[:-1]} '{name}' of theirs 1.2 cannot be "
        assert said in lines and reason in lines.partition(said)[2], name
    ours = {"learners": "GMoP", "detectors": "ViM", "estimators": "COTT"}[kind]
    (row,) = (line for line in done.output.splitlines() if line.startswith("Whole "))
    assert f"\n{ours} " in done.output and "(theirs" in done.output
    assert kind != "learners" or " 1536 " in " ".join(row.split()).replace("1 536", "1536")
