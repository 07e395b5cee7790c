"""Decomposed zero-shot accuracy: a run on coloured shapes in looks, what teaches, resuming, and bad specs."""

import numpy as np
import pytest
import torch

from openworld import backbones, shifts
from openworld.evaluations import read_protocol
from openworld.evaluations.decomposed_zero_shot.evaluation import EVALUATION
from openworld.evaluations.decomposed_zero_shot.report import PARTS
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.rows import read_rows
from openworld.evaluations.running import RunOptions, class_lists
from openworld.evaluations.runtime import Machine
from openworld.features import encode
from openworld.papers.results import PaperRun, paper_results
from openworld.reproduction.comparison import compare_with_paper
from openworld.reproduction.page import write_comparison
from openworld.runs import RunStore, execute
from openworld.testing import check_report

SENTENCES = ["a {}.", "a sketch of a {}.", "a dark {}.", "a bright {}.", "a small {}."]


def given(root, **changed):
    return {
        "protocol": "decomposed-zero-shot",
        "sets": [
            {"dataset": str(root), "row": "clean"},
            {"dataset": str(root), "row": "shifted", "looks": ["fog 3", "sketch"]},
        ],
        "methods": [{"method": "LAID", "settings": {"steps": 5, "semantic_width": 96}}, {"method": "PCA"}],
        "sentences": SENTENCES,
        "seeds": [3, 4],
    } | changed


@pytest.fixture(scope="module")
def ran(shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("halves")
    spec, machine = read_protocol(given(shapes)), Machine(cache=str(folder / "cache"))
    made = [stage.work(RunOptions(folder, workers=1), None) for stage in EVALUATION.artifacts(spec, machine)]
    RunStore(folder).create({}, spec, {"command": []})
    return spec, machine, folder, made, execute(EVALUATION.units(spec, machine), RunStore(folder))


def test_stages_do_what_is_missing_and_no_more(ran):
    spec, machine, folder, made, _ = ran
    names = len(spec.teaching)
    assert made == [3 * len(next(iter(spec.image_sets.values())).load()), 3 * names * len(SENTENCES)]
    again = [stage.work(RunOptions(folder, workers=1), None) for stage in EVALUATION.artifacts(spec, machine)]
    assert again == [0, 0]


def test_a_method_that_draws_nothing_runs_once(ran):
    spec, *_ = ran
    assert [one.name for one in spec.tasks()] == ["LAID, seed 3", "LAID, seed 4", "PCA"]
    assert spec.summary()[:2] == ["clean + shifted", "3 image set(s)"] and len(EVALUATION.fingerprints(spec)) == 3
    assert EVALUATION.backbones(spec) == ("embedded",) and [len(one.names) for one in class_lists(spec)] == [8]


def test_the_numbers_are_those_of_decomposed_zero_shot(ran):
    spec, machine, *_, records = ran
    clip, images = backbones.load("embedded"), [*spec.image_sets.values()][2].load()
    texts = clip.encode_text([f"a photo of a {name}." for name in images.classnames])
    grid = torch.stack([clip.encode_text([one.replace("{}", name) for one in SENTENCES]) for name in images.classnames])
    found = encode(clip, images, cache=machine.folder)
    table = shifts.decomposed_zero_shot(shifts.PCA().fit(grid), found.embeddings[:], found.labels, texts)
    rows = read_rows(records[2])
    name = next(name for name in rows.places("set") if name.endswith("sketch"))
    for row in table:
        entity = "any" if row.part == "whole" else "PCA"
        place = {"part": PARTS[row.part], "images": "shifted"}
        for rank, accuracy in (("top1", row.top1), ("top5", row.top5)):
            found = rows.value(entity, rank, **place, set=name)
            assert np.isclose(found.value, accuracy.value) and found.over("images").n == len(images)
            both = [row.value.value for row in rows.where(entity=entity, metric=rank, **place) if "set" in row.where]
            assert np.isclose(rows.value(entity, rank, **place).value, np.mean(both)) and len(both) == 2


def test_the_page_and_the_papers_table_show_them(ran):
    spec, _, folder, _, records = ran
    told = read_report(folder)
    check_report(told)
    rows = read_rows(records[0])
    laid = told.results.result("LAID", "top1", part=PARTS["semantic"], images="clean")
    assert laid.seeds == (3, 4) and laid.per_seed[0] == rows.value("LAID", "top1", **laid.where).value
    numbers = paper_results("is-ood", "3", [PaperRun(folder, {"clean": "ImageNet-1K", "shifted": "ImageNet-C"})])
    assert len(numbers) == 5 * 2 * 2, "whole features once, and two halves of two methods"
    (whole,) = (
        each
        for each in numbers
        if (each.dataset, each.setting, each.metric) == ("ImageNet-1K", "full features", "Acc@1")
    )
    assert whole.method == "CLIP" and whole.number == rows.value("any", "top1", images="clean").value
    shown = compare_with_paper("is-ood", "3", numbers)
    assert shown.same_data and "67.49" in write_comparison(shown, "md")


def test_names_of_the_tested_classes_may_be_kept_from_teaching():
    spec = read_protocol(given("emoji-concepts", names=["emoji-concepts-400"], tested_teach=False))
    assert len(spec.teaching) == 300 and spec.class_sentences == ("an icon of a {}.",)


def test_drawings_are_shown_as_drawn():
    plain, drawn = (
        read_protocol(given("emoji-concepts", sets=[{"dataset": "emoji-concepts", "as_drawn": as_drawn}], images=40))
        for as_drawn in (False, True)
    )
    assert EVALUATION.fingerprints(plain) != EVALUATION.fingerprints(drawn)
    (shown,) = drawn.image_sets.values()
    assert len(shown.load()) == 40 and drawn.sets[0].row == "emoji-concepts, twemoji"
