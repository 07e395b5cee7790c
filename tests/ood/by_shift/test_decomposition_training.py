"""A run whose decomposition is taught by training images in looks; which images teach; refusals."""

from dataclasses import replace

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations import evaluation_of, read_protocol, shift_cells
from openworld.evaluations.entries import DecompositionSpec
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_degrees import drawn
from openworld.shifts import LOOKS

SMALL = {"steps": 2, "whitened": 32, "semantic_width": 28}
FEW = LOOKS[::6]


@pytest.fixture(scope="module")
def measured(few_shapes, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shift_cells, "LOOKS", FEW)
        yield taught(few_shapes, tmp_path_factory.mktemp("taught"))


def taught(few_shapes, folder):
    spec = read_protocol(
        {
            "protocol": "ood-detection",
            "sources": [{"dataset": str(few_shapes)}],
            "id_part": "validation",
            "shots": 1,
            "pool": [{"dataset": str(few_shapes)}],
            "models": [{"backbone": "embedded", "detectors": [{"detector": "MCM"}]}],
            "decomposition": {"taught_by": "images", "settings": SMALL},
            "k": 2,
        }
    )
    machine = Machine(cache=str(folder / "cache"))
    made = [stage.work(RunOptions(folder, workers=1), None) for stage in evaluation_of(spec).artifacts(spec, machine)]
    return spec, machine, made


def test_images_teach_and_are_measured_by_features_that_see_looks(measured):
    spec, machine, made = measured
    task = spec.tasks[0]
    assert 4 * len(FEW) in made  # 4 classes, a shot each
    fitted = task.split.load(machine)
    assert fitted.width == 128 + 6 * 192 and fitted.about["labels"] == 4 and fitted.about["templates"] == len(FEW)
    degrees = task.measures[1].load(machine)
    assert len(degrees["semantic"]) == 16 and np.all(degrees["covariate"] >= 0)


def test_names_of_a_file_teach_in_the_place_of_the_images_own(measured, tmp_path):
    spec = measured[0]
    file = tmp_path / "names.txt"
    file.write_text("n01440764\nwild dog\nwild_dog\n")
    how = replace(spec.decomposition, taught_by="texts", settings={})
    by_file = replace(spec, decomposition=replace(how, names=str(file))).tasks[0].split
    own = replace(spec, decomposition=how).tasks[0].split
    assert by_file.names == ("tench", "wild dog") and len(own.names) > 2 and by_file.key != own.key
    with pytest.raises(OpenworldError, match="images teach"):
        replace(spec.decomposition, names=str(file))


def test_classes_take_turns():
    labels = np.repeat([0, 1, 2], [50, 5, 2])
    assert np.bincount(labels[drawn(labels, 12, seed=0)]).tolist() == [5, 5, 2]
    assert drawn(labels, 99, seed=0).tolist() == list(range(57))
    assert drawn(labels, 12, seed=0).tolist() != drawn(labels, 12, seed=1).tolist()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"taught_by": "image"}, "did you mean 'images'"),
        ({"taught_by": "images", "templates": ("a {}.",)}, "leave one of the two out"),
    ],
)
def test_refusals(fields, message):
    with pytest.raises(OpenworldError, match=message):
        DecompositionSpec(**fields)
