"""IS-OOD's plan: the published division on downloaded data, one made here on embedded ones; halves; and its cost."""

import numpy as np
import pytest
from paper_runs import plan_of

from openworld import OpenworldError
from openworld.core.progress import SILENT
from openworld.detectors import PROFILES
from openworld.evaluations import read_protocol
from openworld.evaluations.entries import PoolSpec
from openworld.evaluations.image_selection import is_generated_set
from openworld.evaluations.shift_images import ShiftGround
from openworld.papers import TABLES, published_numbers
from openworld.reproduction.cost import cost, seen_images
from openworld.reproduction.isood import DETECTORS, METHODS
from openworld.reproduction.planned_runs import TWIN_FOLDER, TWIN_SHOWN, RenderedTwin, placed
from openworld.shifts.synthesis import read_generated

EMBEDDED = plan_of("is-ood", data="embedded")


def test_the_embedded_run_is_that_of_the_example(repository):
    example = read_protocol(repository / "examples" / "ood-detection-embedded.toml")
    run, _, halves = EMBEDDED.runs
    assert EMBEDDED.tables == tuple(TABLES["is-ood"]) and run.tables == ("1", "4", "6", "8")
    for name in ("ground", "decomposition", "k", "levels", "quantiles", "cuts", "least", "seeds", "id_kept"):
        assert getattr(run.spec, name) == getattr(example, name)
    assert run.spec.models == example.models[:1] and not run.datasets
    assert run.units == 3 and (halves.units, EMBEDDED.units) == (4, 10)
    (laid,) = (half.settings for half in halves.spec.methods if half.method == "LAID")
    assert laid.items() >= {"semantic_width": 112, "learning_rate": 3e-3, "steps": 2000}.items(), "as in the bench"


def test_the_run_on_generated_images_is_that_of_its_example(repository, tmp_path):
    example = read_protocol(repository / "examples" / "syn-is-embedded.toml")
    (run,) = plan_of("is-ood", ("2", "5", "7"), data="embedded", seeds=(0,)).runs
    assert run.name == "rendered-seed-0" and run.tables == ("2", "5", "7") and run.twin == RenderedTwin()
    text = (repository / "examples" / "syn-is-embedded.toml").read_text()
    assert "--levels 6 --each 100" in text and all(f"--images {shown}" in text for shown in TWIN_SHOWN)
    spec = placed(run.spec, tmp_path)
    assert spec.cells.generated == str(tmp_path / "syn-is-twin")
    for name in ("sources", "classes", "shots", "id_part", "seeds", "least", "id_kept"):
        assert getattr(spec, name) == getattr(example, name)
    assert spec.models == example.models[:1]


def test_generated_images_lie_in_one_pool_with_real_ones(tmp_path):
    (run,) = plan_of("is-ood", (), ("generated",), "embedded", seeds=(0,), quick=4).runs
    (made,) = [entry for entry in placed(run.spec, tmp_path).pool if entry.generated]
    assert made.dataset == str(tmp_path / "syn-is-twin") and run.twin == RenderedTwin(each=25)
    assert len(run.spec.pool) == 13 and not run.spec.cells


def test_detectors_are_the_papers_by_its_names():
    printed = {one.method for one in published_numbers("is-ood", "1")}
    assert set(DETECTORS) == printed == {one.name for one in PROFILES["is-ood"]}
    assert set(METHODS) - printed == {one.method for one in published_numbers("is-ood", "3")}


def test_downloaded_data_are_read_as_published():
    found = plan_of("is-ood", ("1", "2", "8"))
    real, made = found.runs
    assert (real.name, real.tables, made.name, made.tables) == ("imagenet21k", ("1", "8"), "SynIS", ("2",))
    assert real.spec.cells.lists == tuple(f"data/imglist/imagenet21k/{part}" for part in ("train", "val"))
    assert real.spec.cells.images == "data/imagenet21k"
    assert real.spec.cells.tested == made.spec.cells.tested == "data/imglist/imagenet1k/test_imagenet.txt"
    assert made.spec.cells.images == "data/SynIS" and real.datasets == {"given cells": "ImageNet-21K"}
    assert real.spec.classes == "all" and real.spec.shots is None and found.downloads == ("imagenet",)
    assert real.units == 1, "a saved classifier is judged once, whatever the seeds"


def test_fewer_detectors_and_quicker_runs():
    (run,) = plan_of("is-ood", ("1",), data="embedded", learners=("knn", "MSP"), seeds=(1,), quick=4).runs
    assert run.name == "emoji-msp-knn-seed-1" and list(run.methods) == ["MSP", "KNN"]
    assert run.spec.images == 100 and run.spec.models[0].recipe == {"epochs": 6}


def test_halves_on_downloaded_data_are_those_of_imagenet():
    (run,) = plan_of("is-ood", ("3",), seeds=(0,), quick=2).runs
    clean, corrupted, rendered = run.spec.sets
    assert run.name == "halves-seed-0" and run.spec.images == 5_000
    assert (clean.dataset, corrupted.dataset, rendered.dataset) == ("imagenet", "imagenet", "imagenet-r")
    assert len(corrupted.looks) == 75 and "spatter 1" not in corrupted.looks
    assert seen_images(run.spec) == 77 * 5_000


def test_whole_features_alone_are_read_from_the_quickest_method():
    (run,) = plan_of("is-ood", ("3",), data="embedded", learners=("CLIP",)).runs
    assert [one.method for one in run.spec.methods] == ["PCA"] and run.methods == {"CLIP": "CLIP"}
    assert run.name == "halves-clip"


def test_what_it_comes_to_is_counted_without_data():
    found = plan_of("is-ood", ("1", "2"), data="elsewhere")
    told = cost(found)
    assert [run["images"] for run in told["runs"]] == [522_500 + 11_060_223 + 45_000, 320_000 + 45_000]
    scores = 8 * 8 * sum(run["images"] for run in told["runs"])  # of eight detectors
    assert told["units"] == 2 and told["bytes"] == 2 * scores + 2 * 100_000, (
        "degrees are published; scores are kept and recorded"
    )
    run, _, halves = EMBEDDED.runs
    shown = {each["name"]: each["images"] for each in cost(EMBEDDED)["runs"]}
    assert shown["rendered"] == 36 * 100 + 400, "and 400 test images"
    assert seen_images(halves.spec) == sum(len(one.load()) for one in halves.spec.image_sets.values())
    pool = run.spec.ground
    assert seen_images(run.spec) == len(pool.test.load()) + sum(len(one.load()) for one in pool.tested)


def test_every_table_but_the_third_is_of_ood_detection():
    kinds = {number: table.kinds for number, table in TABLES["is-ood"].items()}
    assert kinds.pop("3") == ("decomposed-zero-shot",) and set(kinds.values()) == {("ood-detection",)}


# The rendered twin, made


def images_of(folder):
    """When each image of a set was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.png")}


@pytest.mark.slow
def test_a_small_twin_is_made_once_and_lies_in_a_pool(tmp_path):
    twin = RenderedTwin(levels=3, each=2)
    twin.make(tmp_path, "cpu", SILENT)
    folder = tmp_path / TWIN_FOLDER
    made, painted = read_generated(folder), images_of(folder)
    assert 0 < len(made) == len(painted) <= twin.most_images == 18 and set(made.grid.counts.ravel()) <= {0, 2}
    twin.make(tmp_path, "cpu", SILENT)
    assert images_of(folder) == painted, "what is there is not painted again"
    assert is_generated_set(str(folder)) and not is_generated_set("emoji-concepts")
    real = PoolSpec("emoji-concepts", "twemoji")
    sources = (PoolSpec("emoji-concepts", "noto").data,)
    pool = ShiftGround(sources=sources, classes="all", pool=(real, PoolSpec(str(folder), style="made"))).load_pool()
    assert pool.generated == ("made",) and np.count_nonzero(pool.style == 1) == len(made)
    names = np.array(pool.images.classnames, dtype=object)[pool.images.labels[pool.style == 1]]
    assert names.tolist() == [made.images.classnames[label] for label in made.images.labels]
    with pytest.raises(OpenworldError, match="whose only part is 'test'"):
        PoolSpec(str(folder), part="train").images("train").load()
