"""A run of dynamic scenarios on folders of shapes: two learners, two seeds, every scenario."""

import shutil

import pytest

from openworld.evaluations import DynamicSpec
from openworld.evaluations.dynamic.evaluation import EVALUATION
from openworld.evaluations.runtime import Machine
from openworld.results import RunFolder
from openworld.runs import RunStore, execute, read_spec

COOP = {"learner": "CoOp", "settings": {"context_length": 4, "schedule": {"epochs": 1}}}


@pytest.fixture(scope="session")
def spec(shapes, tmp_path_factory):
    """Two variants have half of the classes, four images of each; another data set one class of the source's name."""
    drawings, sketches, animals = (tmp_path_factory.mktemp(name) for name in ("drawings", "sketches", "animals"))
    for folder in sorted((shapes / "test").iterdir())[::2]:
        for variant in (drawings, sketches):
            shutil.copytree(folder, variant / "test" / folder.name, ignore=lambda *_: ["4.png"])
    names = {"red circle": "ladybird", "green square": "frog", "blue circle": "whale", "red square": "red square"}
    for shape, name in names.items():
        shutil.copytree(shapes / "test" / shape, animals / "test" / name)
    source, *variants, other = ({"dataset": str(root)} for root in (shapes, drawings, sketches, animals))
    given = {"learners": (COOP,), "datasets": [source], "source": source, "variants": variants, "others": [other]}
    return read_spec(given | {"seeds": (1, 2), "shots": 2, "views": 1, "levels": (0, 0.5, 1)}, DynamicSpec)


@pytest.fixture(scope="session")
def run(spec, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dynamic")
    RunStore(folder / "run").create({}, spec, {"command": ["openworld", "run"]})
    execute(EVALUATION.units(spec, Machine(cache=str(folder / "cache"))), RunStore(folder / "run"))
    return RunFolder.read(folder / "run")


@pytest.fixture(scope="session")
def records(run):
    return run.records
