"""OOD detection: cells by hand, a run on coloured shapes, given cells, resuming, and bad specs."""

from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations import OODDetectionSpec, evaluation_of, read_protocol
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.rows import read_rows, results_of_unit
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_levels import PoolLevels
from openworld.ood.by_shift.evaluation import EVALUATION, summary
from openworld.ood.by_shift.measurement import ScoredPool, measure
from openworld.runs import RunStore, execute

NETWORK = {"architecture": "convnet", "recipe": {"epochs": 1, "side": 16}}


def given(root, **changed):
    return {
        "protocol": "ood-detection",
        "sources": [{"dataset": str(root)}],
        "id_part": "validation",
        "shots": None,
        "pool": [{"dataset": str(root)}, {"dataset": str(root), "corruption": "contrast", "severity": 5}],
        "models": [
            NETWORK
            | {"detectors": [{"detector": "MSP"}, {"detector": "KNN", "settings": {"k": 2}}, {"detector": "MDS"}]},
            {"backbone": "embedded", "detectors": [{"detector": "MCM"}, {"detector": "GL-MCM"}]},
        ],
        "decomposition": {"settings": {"steps": 10, "semantic_width": 112}},
        "quantiles": {"covariate": [0.1, 0.9]},
        "k": 2,
        "levels": 4,
        "least": 2,
        "seeds": [0],
    } | changed


def run(spec, folder, cache):
    machine = Machine(cache=str(cache))
    made = [stage.work(RunOptions(folder, workers=1), None) for stage in evaluation_of(spec).artifacts(spec, machine)]
    return made, execute(EVALUATION.units(spec, machine), RunStore(folder))


@pytest.fixture(scope="module")
def ran(shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shift")
    spec = read_protocol(given(shapes))
    return spec, folder, *run(spec, folder, folder / "cache")


def counts_of(found, counting="kept"):
    """int64[R, C], images of every cell, of the rows of a unit."""
    cells = [row for row in found.where(metric="images", id_classes=counting) if "covariate_level" in row.where]
    last = cells[-1].where
    return np.reshape([row.value.value for row in cells], (last["covariate_level"] + 1, last["semantic_level"] + 1))


def of_levels(found, metric, axis, counting="kept"):
    """A number of every level."""
    return [row.value.value for row in found.where(entity="", metric=metric, axis=axis, id_classes=counting)]


def test_stages_do_what_is_missing_and_no_more(ran, tmp_path):
    spec, folder, made, records = ran
    # One epoch; 4 classes of 6 and of 2 images, twice 40 of the pool; 8 names in 80 sentences; all but the training;
    # 24 are too few to be gathered in shards; three detectors of the network, which score test images and pool.
    assert made == [1, 24 + 8 + 80, 8 * 80, 8 + 80, 0, 3, 8 + 80]
    again, same = run(spec, folder, folder / "cache")
    assert not any(again)
    assert [(one.metrics, read_rows(one)) for one in same] == [(one.metrics, read_rows(one)) for one in records]


@pytest.mark.parametrize(
    ("kept", "stage"),
    [
        ("*-weights.safetensors", 0),
        ("shard-*.safetensors", 1),
        ("decomposition.safetensors", 2),
        ("degrees.safetensors", 3),
        ("detectors.safetensors", 5),
        ("scores-*.safetensors", 6),
    ],
)
def test_whatever_is_damaged_in_the_cache_is_made_again(ran, tmp_path, kept, stage):
    spec, folder, made, _ = ran
    cache = Path(copytree(folder / "cache", tmp_path / "cache"))
    whole = {path: path.read_bytes() for path in cache.rglob(kept)}
    for path, content in whole.items():
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    stages = evaluation_of(spec).artifacts(spec, Machine(cache=str(cache)))
    again, once_more = ([one.work(RunOptions(tmp_path / "run", workers=1), None) for one in stages] for _ in range(2))
    assert [number for number, count in enumerate(again) if count] == [stage]
    assert again[stage] <= made[stage] and not any(once_more)
    mended = [path for path, content in whole.items() if path.read_bytes() == content]
    assert mended == list(whole) or (stage == 1 and mended)  # what nothing reads any more is not looked at


def test_names_of_what_the_classes_are_not(ran, shapes, tmp_path):
    """Of a word list; AdaNeg, whose scores depend on the order of the images, is marked in the record."""
    _, folder, *_ = ran
    (tmp_path / "nouns.txt").write_text("\n".join(f"noun {place}" for place in range(40)))
    (tmp_path / "adjectives.txt").write_text("\n".join(f"adjective{place}" for place in range(40)))
    listed = [{"detector": name, "settings": {"groups": 2}} for name in ("NegLabel", "CSP", "AdaNeg")]
    models = [{"backbone": "embedded", "negatives": str(tmp_path), "detectors": listed}]
    (unit,) = run(read_protocol(given(shapes, models=models)), tmp_path / "run", folder / "cache")[1]
    areas = read_rows(unit).where(metric="auroc")
    assert set(areas.entities) == {"NegLabel", "CSP", "AdaNeg"}
    assert unit.metrics["sequential"] == ["AdaNeg"]
    assert ["AdaNeg remembers the images" in warning for warning in unit.metrics["warnings"]] == [True]
    assert len({tuple(row.value.value for row in areas.where(entity=name)) for name in areas.entities}) == 3


def test_the_tables_say_which_image_a_row_is_of(ran, told_columns):
    for record in ran[3]:
        images, test = record.table("images"), record.table("test")
        for table in (images, test):
            assert {name for name in table if not name.startswith("score ")} <= told_columns
            assert [path.split("/")[-2] for path in table["path"]] == table["label_name"].tolist()
        assert set(test["prediction_name"]) <= set(test["label_name"])


def test_classes_in_distribution_are_kept_and_removed(ran):
    found, images = read_rows(ran[3][0]), ran[3][0].table("images")
    names = images["label_name"]
    known = np.isin(names, sorted(set(names))[:4])
    assert np.array_equal(np.array(images["known"]), known) and known.sum() == 40
    assert counts_of(found).sum() == 80 and counts_of(found, "removed").sum() == 40
    assert of_levels(found, "degree_from", "semantic", "removed") == of_levels(found, "degree_from", "semantic")
    sizes = [found.value("", "images", images=name).value for name in ("all images", "other classes")]
    assert ran[3][0].metrics["id_kept"] and sizes == [80, 40]


def test_marginal_images_are_those_of_other_classes_that_pass_most_surely(ran):
    for record, label in zip(ran[3], ("MSP", "MCM"), strict=True):
        rows, pool, test = read_rows(record), record.table("images"), record.table("test")
        nearest = pool["semantic_level"][~pool["known"]].min()
        near = np.flatnonzero(~pool["known"] & (pool["semantic_level"] == nearest))
        score = pool[f"score {label}"]
        (count,), (passed,) = (rows.where(metric=f"marginal_{name}").rows for name in ("images", "passed"))
        assert count.where == passed.where == {"semantic_level": nearest, "detector": label}
        assert count.value.value == len(near)
        passing = np.sort(test[f"score {label}"])[::-1][int(np.ceil(0.95 * len(test["id"]))) - 1]
        assert passed.value.value == pytest.approx(np.mean(score[near] >= passing))
        best = {}  # by group
        for place in near:
            group = pool["group"][place]
            if group not in best or score[place] > score[best[group]]:
                best[group] = place
        places = sorted(best.values(), key=lambda place: -score[place])[:8]
        scores, confidences = (rows.where(metric=name).rows for name in ("marginal_score", "confidence"))
        assert [row.value.value for row in scores] == pytest.approx(score[places].tolist())
        images = [row.where for row in confidences]
        shown = [place for image in images for place in near if pool["id"][place] == image["image"]]
        assert [image["class"] for image in images] == pool["label_name"][shown].tolist()
        for image in images:
            assert f"images/marginal/{image['image']}.png" in record.attachments
            (row,) = np.flatnonzero(test["id"] == image["known"])
            same = test["label_name"] == image["taken_for"]
            assert same[row] and test[f"score {label}"][row] == test[f"score {label}"][same].max()
        if label == "MSP":
            assert [row.value.value for row in confidences] == pytest.approx(score[places].tolist(), abs=1e-6)


# --- the numbers by hand --------------------------------------------------------------------------------------


def test_numbers_by_hand():
    #                    cell 0,0: .625  cell 0,1: 1     cell 1,1: 3/4; cell 1,0 has one image alone
    pool = {"any": np.array([3.0, 1.0, 0.0, 0.0, 0.0, 2.5, 9.0])}
    levels = {"semantic": np.array([0, 0, 1, 1, 1, 1, 0]), "covariate": np.array([0, 0, 0, 0, 1, 1, 1])}
    known = np.array([True] + [False] * 6)
    placed = PoolLevels(levels, {"semantic": 2, "covariate": 2})
    scored = ScoredPool({"any": np.array([2.0, 3.0])}, pool, np.arange(2), np.arange(2, 9), placed, known)
    measured = measure(scored, id_kept=True, least=2)
    found = results_of_unit("ood-detection", measured.rows, shared=measured.shared)

    def cell(metric, row, column):
        return found.value("any", metric, id_classes="kept", covariate_level=row, semantic_level=column).value

    assert [[cell("auroc", row, column) for column in (0, 1)] for row in (0, 1)] == [[0.625, 1.0], [None, 0.75]]
    assert cell("fpr_in_positive", 0, 1) == 0.0 and cell("fpr_out_positive", 1, 1) == 0.5
    names = ("all images", "other classes", "far in meaning", "far, other classes")
    assert [found.value("", "images", images=name).value for name in names] == [7, 6, 4, 4]
    areas = [
        found.value("any", "auroc", **({"images": name} if place else {})).value for place, name in enumerate(names)
    ]
    wins = [[0.25, 1, 1, 1, 1, 0.5, 0], [1, 1, 1, 1, 0.5, 0], [1, 1, 1, 0.5], [1, 1, 1, 0.5]]
    assert areas == pytest.approx([np.mean(own) for own in wins])


# --- given cells ----------------------------------------------------------------------------------------------


@pytest.fixture
def lists(shapes, tmp_path):
    """A class in cell (0, 0) and one in (1, 2), some images in each of two folders."""
    for part, numbers in {"train": (0, 1), "val": (2, 3, 4)}.items():
        (tmp_path / part).mkdir()
        for name, cell in (("blue circle", "cov_0_sem_0"), ("red square", "cov_1_sem_2")):
            lines = [f"./test/{name}/{number}.png" for number in numbers]
            (tmp_path / part / f"{cell}.txt").write_text("\n".join(lines) + "\n")
    return CellsSpec((str(tmp_path / "train"), str(tmp_path / "val")), str(shapes))


def test_a_run_on_given_cells_measures_nothing(shapes, lists, ran, tmp_path):
    models = [
        NETWORK | {"detectors": [{"detector": "MSP"}]},
        {"backbone": "embedded", "detectors": [{"detector": "MCM"}, {"detector": "Energy"}]},
    ]
    changed = {"cells": {"lists": lists.lists, "images": lists.images}, "pool": [], "models": models}
    made, records = run(read_protocol(given(shapes, **changed)), tmp_path / "run", ran[1] / "cache")
    assert made[:5] == [0] * 5  # trained and embedded before
    assert made[5:] == [1, 8 + sum(len(record.table("images")["id"]) for record in records[:1])]
    for record in records:
        found = read_rows(record)
        assert of_levels(found, "degree_from", "semantic") == [] and of_levels(found, "images", "semantic") == [5, 0, 5]
        assert counts_of(found).tolist() == [[5, 0, 0], [0, 0, 5]]
        assert found.value("", "images", images="other classes").value == 5  # the first four names are blue and green
    assert set(read_rows(records[1]).where(metric="auroc").entities) == {"MCM", "Energy"}


# --- what is odd, and what is wrong ---------------------------------------------------------------------------


def judged_once(shapes, ran, tmp_path, **changed):
    """The rows of a run of the network alone, with images embedded before."""
    spec = read_protocol(given(shapes, models=[NETWORK | {"detectors": [{"detector": "MSP"}]}]) | changed)
    return read_rows(run(spec, tmp_path / "odd", ran[1] / "cache")[1][0])


def test_a_pool_of_in_distribution_classes_alone_has_nothing_without_them(shapes, ran, tmp_path):
    found = judged_once(shapes, ran, tmp_path, classes="all")
    assert counts_of(found).sum() == 80 and counts_of(found, "removed").sum() == 0
    assert {row.value.value for row in found.where(entity="MSP", id_classes="removed")} == {None}
    assert found.value("MSP", "auroc", images="other classes").value is None
    assert found.value("", "images", images="other classes").value == 0


def test_images_that_cannot_be_read_stop_the_run_or_are_counted_out(shapes, ran, tmp_path):
    copytree(shapes / "test", tmp_path / "damaged" / "test")
    (tmp_path / "damaged" / "test" / "red circle" / "1.png").write_bytes(b"none")
    models = [NETWORK | {"detectors": [{"detector": "MSP"}]}]
    spec = read_protocol(given(shapes, pool=[{"dataset": str(tmp_path / "damaged")}], models=models))
    with pytest.raises(OpenworldError, match="1.png cannot be read as an image"):
        run(spec, tmp_path / "strict", ran[1] / "cache")
    machine = Machine(cache=str(ran[1] / "cache"), allow_corrupt=1)
    for stage in evaluation_of(spec).artifacts(spec, machine):
        stage.work(RunOptions(tmp_path / "lax", workers=1), None)
    for record in execute(EVALUATION.units(spec, machine), RunStore(tmp_path / "lax")):
        assert counts_of(read_rows(record)).sum() == 39
        assert len(set(record.table("images")["id"])) == 39 and max(record.table("images")["id"]) == 39


def test_all_images_of_given_cells_must_be_readable(shapes, lists, ran, tmp_path):
    copytree(shapes / "test", tmp_path / "damaged" / "test")
    (tmp_path / "damaged" / "test" / "red square" / "1.png").write_bytes(b"none")
    cells = {"lists": lists.lists, "images": str(tmp_path / "damaged")}
    spec = read_protocol(given(shapes, cells=cells, pool=[]))
    machine = Machine(cache=str(ran[1] / "cache"), allow_corrupt=1)
    for unit in EVALUATION.units(spec, machine):
        with pytest.raises(OpenworldError, match="1.png cannot be read as an image"):
            EVALUATION(unit.arguments["task"], unit.resources["machine"], unit.inputs)


@pytest.fixture
def one_class(shapes, tmp_path):
    for part in ("train", "validation"):
        copytree(shapes / part / "red circle", tmp_path / "one" / part / "red circle")
    return {"sources": [{"dataset": str(tmp_path / "one")}], "classes": "all"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"k": 25}, "distances to training image number 25, and there are 24"),
        ({"models": [NETWORK | {"detectors": [{"detector": "KNN"}]}]}, "KNN asks for 50 .* holds 24 of 24 training"),
        ({"models": [NETWORK | {"profile": "is-ood"}]}, "RankFeat: maps are needed, and the model .* no last stage"),
        (None, "1 class is in distribution, expected 2 or more"),
    ],
)
def test_what_would_fail_late_is_refused_at_once(shapes, one_class, changed, said):
    with pytest.raises(OpenworldError, match=said):
        EVALUATION.units(read_protocol(given(shapes, **(changed or one_class))), Machine())


# --- specs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"models": []}, "labels of models must be distinct"),
        ({"seeds": [0, 0]}, "seeds must be distinct"),
        ({"pool": []}, "give a pool"),
        ({"id_part": "test"}, "give id_part or the entry another part"),
        ({"shots": -1}, "shots is -1"),
        ({"id_part": "train"}, "test on images that nothing learned from"),
        ({"cells": {"lists": ["x"]}, "pool": []}, "lists and the folder of their images"),
        ({"quantiles": {"looks": [0.1, 0.9]}}, "looks"),
        ({"decomposition": {"method": "ICA"}}, "LAID"),
        ({"decomposition": {"settings": {"stepz": 3}}}, "steps"),
        ({"levels": 2}, "levels"),
    ],
)
def test_bad_specs_are_refused(shapes, changed, said):
    with pytest.raises(OpenworldError, match=said):
        read_protocol(given(shapes, **changed))


def test_an_entry_of_the_pool_is_known_by_any_spelling_of_its_path(shapes):
    other = f"{shapes.parent}/./{shapes.name}"
    with pytest.raises(OpenworldError, match="whose images are the in-distribution ones"):
        read_protocol(given(shapes, pool=[{"dataset": other, "part": "train"}]))
    with pytest.raises(OpenworldError, match="twice; an image has one cell"):
        read_protocol(given(shapes, pool=[{"dataset": str(shapes)}, {"dataset": other}]))


def test_changed_images_are_refused(ran):
    spec, folder, _, _ = ran
    unit = EVALUATION.units(spec, Machine(cache=str(folder / "cache")))[0]
    with pytest.raises(OpenworldError, match="pool changed"):
        EVALUATION(unit.arguments["task"], unit.resources["machine"], dict(unit.inputs) | {"pool": "another"})


def test_a_model_without_seeds_is_one_unit(shapes):
    spec = read_protocol(given(shapes, seeds=[0, 1]))
    assert isinstance(spec, OODDetectionSpec)
    assert [one.name for one in spec.tasks] == ["convnet, seed 0", "convnet, seed 1", "embedded"]
    assert summary(spec)[1:] == ["2 model(s)", "5 detector(s)"]
    assert set(EVALUATION.fingerprints(spec)) == {"training", "in-distribution test", "pool"}
