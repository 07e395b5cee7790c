"""Given cells: IS-OOD as it is released, its list of in-distribution test images, and lists that are wrong."""

from dataclasses import replace

import numpy as np
import pytest
from released_cells import IDS, TOO_FEW, plant

import openworld as ow
from openworld import OpenworldError
from openworld.classifiers import Classifier, build, load, save
from openworld.datasets import use_root
from openworld.evaluations import evaluation_of
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.published_cells import given_cells
from openworld.evaluations.rows import read_rows
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.ood.by_shift.evaluation import EVALUATION
from openworld.ood.model_entries import DetectorSpec, JudgedSpec
from openworld.papers.results import PaperRun, paper_results
from openworld.reproduction.comparison import compare_with_paper
from openworld.reproduction.plan import ReproductionSetup, plan
from openworld.runs import RunStore, execute
from openworld.runs.canonical import to_json


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("released"))


@pytest.fixture
def rooted(released, monkeypatch):
    monkeypatch.setenv("OPENWORLD_DATA", str(released))
    use_root(released)
    return released


def folder(root, *parts):
    lists = tuple(str(root / "imglist" / part) for part in parts)
    return CellsSpec(lists, str(root / parts[0].partition("/")[0]))


def counts(cells):
    return np.bincount(cells.covariate * cells.shape[1] + cells.semantic, minlength=64).reshape(8, 8)


def test_imagenet_21k_is_read_as_released(released):
    cells = given_cells(folder(released, "imagenet21k/val"))
    found = counts(cells)
    assert cells.shape == (8, 8) and found.sum() == 61 * 10 + 9 + 4
    assert {cell: found[cell] for cell in TOO_FEW} == TOO_FEW
    assert cells.images.classnames == ("n01440764", "n01819313", "n02099712")
    assert cells.styles == ("imagenet21k_val",) and cells.images.image(0).size == (8, 8)


def test_syn_is_tells_label_and_style_by_file_name(released):
    cells = given_cells(folder(released, "SynIS"))
    assert np.all(counts(cells) == 10)
    assert cells.images.classnames == tuple(str(17 + level) for level in range(8))
    assert np.array_equal(cells.images.labels, cells.semantic)
    assert cells.styles == ("style 0", "style 1", "style 2")


def test_only_listed_images_are_tested_on(rooted):
    (run,) = plan("is-ood", ["1"], ReproductionSetup(str(rooted))).runs
    every = replace(run.spec, cells=replace(run.spec.cells, tested="")).ground.test.load()
    tested = run.spec.ground.test.load()
    assert (len(every), len(tested)) == (12, 8) and tested.labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert tested.image(2).tobytes() == every.image(3).tobytes() and tested.fingerprint != every.fingerprint


def test_the_papers_tables_are_made_from_it(rooted, tmp_path):
    found, machine = (
        plan("is-ood", ["1", "2", "8"], ReproductionSetup(str(rooted), learners=("MSP", "DICE"))),
        Machine(),
    )
    stand = {}
    for run in found.runs:
        place = tmp_path / run.name
        artifacts = evaluation_of(run.spec).artifacts(run.spec, machine)
        *measured, fitted, scored = (one.work(RunOptions(place, workers=1), None) for one in artifacts)
        assert measured == [0] * 5
        # Detectors are fitted, and the 8 test images scored, once for both divisions.
        tested = 0 if stand else 8
        assert (fitted, scored) == (0 if stand else 2, tested + len(given_cells(run.spec.cells).images))
        store, resolved = RunStore(place), to_json(run.spec)
        store.create(resolved, resolved, {})
        (record,) = execute(EVALUATION.units(run.spec, machine), store)
        stand[run.name.partition("-")[0]] = PaperRun(place, run.datasets, run.methods), record
    real, record = stand["imagenet21k"]
    assert "Levels are those that were given." in " ".join(ow.open_run(real.folder).verdict)
    found, without = read_rows(record), read_rows(stand["SynIS"][1])
    place = {"id_classes": "kept"}
    absent = {
        cell
        for cell in np.ndindex(8, 8)
        if found.value("MSP", "auroc", covariate_level=cell[0], semantic_level=cell[1], **place).value is None
    }
    assert absent == set(TOO_FEW) and record.metrics["model"] == "ResNet-50"
    assert found.value("", "images", side="in-distribution").value == 8
    known = [
        rows.value("", "images", images="all images").value - rows.value("", "images", images="other classes").value
        for rows in (found, without)
    ]
    assert known == [34, 0], "labels of the generated have numbers, and no names"
    for number, runs in {"1": real, "2": stand["SynIS"][0], "8": real}.items():
        shown = compare_with_paper("is-ood", number, paper_results("is-ood", number, [runs]))
        assert shown.same_data and shown.backbones == ("ResNet-50",)


@pytest.mark.parametrize(
    ("names", "detector", "said"),
    [
        (("tench", "gold fish", "great white shark", "tiger shark"), "MSP", "class 1 is 'gold fish', not 'goldfish'"),
        (("tench", "goldfish", "great white shark", "tiger shark", "ray"), "MSP", "it has 5"),
        (tuple(IDS.values()), "RankFeat", "RankFeat: maps are needed"),
    ],
)
def test_a_saved_classifier_that_cannot_serve_is_refused_at_once(rooted, tmp_path, names, detector, said):
    (run,) = plan("is-ood", ["1"], ReproductionSetup(str(rooted))).runs
    saved = load(rooted / "resnet50_imagenet1k_v1")
    save(Classifier(build("convnet", len(names), 16), names, saved.preprocess, "convnet"), tmp_path)
    model = JudgedSpec(weights=str(tmp_path), detectors=(DetectorSpec(detector),))
    with pytest.raises(OpenworldError, match=said):
        EVALUATION.units(replace(run.spec, models=(model,)), Machine())


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("a/1.png\n\n", "line 2 of .* is empty"),
        ("a/1.png\na/1.png\n", "stands 2 times in the lists, in two cells or twice"),
        ("../a/1.png\n", "leave|outside|below|\\.\\."),
        ("a/gone.png\n", "missing"),
        ("", "are all empty"),
        (b"\xff\xfe", "is not UTF-8"),
        (None, "holds no list"),
    ],
)
def test_bad_lists_are_refused(tmp_path, lines, said):
    if lines is not None:
        (tmp_path / "cov_0_sem_0.txt").write_bytes(lines if isinstance(lines, bytes) else lines.encode())
    with pytest.raises(OpenworldError, match=said):
        given_cells(CellsSpec((str(tmp_path),), str(tmp_path)))
