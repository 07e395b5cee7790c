"""Which images a set of an OOD benchmark shows, and detectors of names and of order in its units."""

import sys
from pathlib import Path

import pytest
from PIL import Image

from openworld import OpenworldError
from openworld.evaluations import read_protocol
from openworld.ood.benchmark.report import results_of, units_of
from openworld.results import RunFolder

sys.path.insert(0, str(Path(__file__).parent))

from benchmark_runs import run, spec_of  # noqa: E402


def names_of(task):
    return [set(images.image_set.classnames) for images in task.others]


def test_a_data_set_that_is_in_distribution_shows_the_classes_that_a_group_means(repository):
    spec = read_protocol(repository / "examples" / "ood-benchmark-embedded.toml")
    kept = [each for each in spec.sets if each.dataset == "emoji-concepts"]
    (task, *_) = type(spec)(spec.sources, tuple(kept), spec.models[1:2], classes="base", seeds=(1,)).tasks
    other, *same = names_of(task)
    inside = set(task.ground.names)
    assert len(inside) == 50 and not other & inside and len(other) == 50
    assert [each.group for each in kept] == ["near", "covariate", "covariate", "covariate"]
    assert all(names == inside for names in same)


def test_a_set_without_images_of_its_group_is_refused(repository):
    spec = read_protocol(repository / "examples" / "ood-benchmark-embedded.toml")
    (task, *_) = type(spec)(spec.sources, spec.sets[:1], spec.models[1:2], classes="all", seeds=(1,)).tasks
    with pytest.raises(OpenworldError, match="only classes that are in distribution, and its group is near"):
        names_of(task)


def test_a_flat_folder_is_a_set(places, tmp_path):
    for number in range(3):
        Image.new("RGB", (32, 32), (80 * number, 0, 0)).save(tmp_path / f"{number}.png")
    sets = [{"dataset": str(tmp_path), "group": "far", "name": "flat"}]
    (task,) = spec_of(places, [{"backbone": "embedded"}], sets=sets, validation_sets=[]).tasks
    (images,) = [images.image_set for images in task.others]
    assert len(images) == 3 and images.classnames == (tmp_path.name.replace("_", " "),)


def test_names_far_away_and_order_in_units_of_a_model_and_a_learner(places, tmp_path):
    (tmp_path / "words.txt").write_text("\n".join(f"noun {place}" for place in range(40)))
    listed = [{"detector": name, "settings": {"groups": 2}} for name in ("NegLabel", "AdaNeg")]
    common = {"backbone": "embedded", "negatives": str(tmp_path / "words.txt"), "detectors": listed}
    tuned = {"learner": "CoOp", "views": 1, "settings": {"context_length": 2, "schedule": {"epochs": 1}}}
    spec = spec_of(places, [common, common | tuned], validation_sets=[])
    records = run(spec, tmp_path)
    for record in records:
        table = record.table("images")
        assert {"score NegLabel", "score AdaNeg"} <= set(table)
        streams = [name for name in table if name.startswith("stream AdaNeg")]
        assert len(streams) == 2 and not [name for name in table if name.startswith("stream NegLabel")]
        assert any("AdaNeg remembers" in warning for warning in record.metrics["warnings"])
    _, sets = results_of(units_of(RunFolder(tmp_path / "run", "ood-benchmark", tuple(records))))
    assert set(sets.sequential) == {"AdaNeg of embedded", "AdaNeg of CoOp"}
