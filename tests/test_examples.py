"""The example specs: every learner has its entry, and every entry is ready to start on the backbone that it names."""

import pytest
import torch

from openworld import backbones, datasets
from openworld.datasets.corruptions import CORRUPTIONS
from openworld.estimators import ESTIMATORS
from openworld.evaluations import AccuracyEstimationSpec, RecognitionByShiftSpec, RecognitionSpec
from openworld.learners import LEARNERS, FittedLearner, configure
from openworld.runs import read_spec


@pytest.fixture(scope="module")
def spec(repository):
    return read_spec(repository / "examples" / "all-learners.toml", RecognitionSpec)


@pytest.fixture(scope="module")
def clip(spec):
    return backbones.load(spec.backbone)


@pytest.fixture(scope="module")
def halves(spec):
    names = datasets.load(spec.dataset, domain=spec.test_domain, part="test").classnames
    return names[:12], names[-12:]  # a few are as good as all


def test_every_learner_of_the_package_has_one_entry(spec):
    own = [name for name, learner in LEARNERS.items() if learner.__module__.startswith("openworld.")]
    assert sorted(one.label for one in spec.learners) == sorted(own)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_entry_starts_and_reads_all_names(name, spec, clip, halves):
    one = next((one for one in spec.learners if one.learner == name), None)
    if one is None:
        pytest.skip(f"{name} comes from another package")
    learner = configure(LEARNERS[name], one.settings, spec.dataset)
    base, new = halves
    parameters = {}
    if hasattr(learner, "start"):
        parameters = learner.start(clip, base, torch.Generator().manual_seed(1))
        learner.prepare(clip, base)
    bank = FittedLearner(learner, clip, base, parameters).text_bank(base, new)
    assert bank is not None and all(tensor.isfinite().all() for tensor in parameters.values())


def test_the_example_of_shots_is_one_sweep(repository):
    swept = read_spec(repository / "examples" / "shots-embedded.toml", RecognitionSpec)
    assert swept.every_shots == (1, 2, 4, 8, 16)
    assert [one.label for one in swept.learners] == ["zero-shot", "CoOp", "KgCoOp", "GMoP"]


def test_the_example_of_accuracy_without_labels_leaves_nothing_out(repository):
    spec = read_spec(repository / "examples" / "accuracy-estimation-embedded.toml", AccuracyEstimationSpec)
    assert {one.estimator for one in spec.estimators} >= {
        name for name, kind in ESTIMATORS.items() if kind.__module__.startswith("openworld.")
    }
    assert {target.domain for target in spec.targets} == set(datasets.drawings.STYLES)
    kinds = [one.kind for one in spec.conditions]
    assert (kinds.count("natural"), kinds.count("synthetic")) == (8, 5 * len(CORRUPTIONS))
    assert all(len(one.images.load()) == spec.images for one in spec.conditions)
    assert (len(spec.models), len(spec.seeds), {len(one.checkpoints) for one in spec.models}) == (3, 3, {3})


def test_the_example_of_open_world_quality_by_shift_shows_every_style(repository):
    spec = read_spec(repository / "examples" / "recognition-by-shift-embedded.toml", RecognitionByShiftSpec)
    assert {one.domain for one in spec.pool} == set(datasets.drawings.STYLES) and len(spec.pool) == 16
    assert [one.label for one in spec.learners] == ["zero-shot", "CoOp", "KgCoOp", "GMoP"]
    assert [one.label for one in spec.estimators] == ["AC", "DoC", "ATC-MC", "COT", "FRAP"]


def test_a_scale_of_its_own_is_that_of_the_backbone(repository, clip):
    spec = read_spec(repository / "examples" / "accuracy-estimation-embedded.toml", AccuracyEstimationSpec)
    own = next(one for one in spec.estimators if one.label == "FRAP, own scale")
    assert own.settings["tau"] == pytest.approx(1 / float(clip.logit_scale), rel=1e-4)


def test_no_depth_is_silently_cut_down_to_the_blocks_of_a_tower(spec, clip):
    text, image = clip.config.text.layers, clip.config.image.layers
    for one in spec.learners:
        for setting in {"depth", "text_depth", "image_depth"} & set(one.settings):
            in_image_tower = setting == "image_depth" or one.learner == "VPT"
            assert one.settings[setting] <= (image if in_image_tower else text), f"{one.label}: {setting}"


def test_the_example_of_known_classes_cuts_by_names(repository):
    spec = read_spec(repository / "examples" / "known-classes-embedded.toml", RecognitionSpec)
    assert spec.tested.sides_in_words == "3 base + 2 new classes, 3 left out"
