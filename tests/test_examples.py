"""The example specs: every learner has its entry, and every entry is ready to start on the backbone that it names."""

import pytest
import torch

from openworld import backbones, datasets
from openworld.learners import LEARNERS, Fitted, configure
from openworld.protocols import RecognitionSpec
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
    return names[: len(names) // 2], names[len(names) // 2 :]


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
    bank = Fitted(learner, clip, base, parameters).text_bank(base, new)
    assert bank is not None and all(tensor.isfinite().all() for tensor in parameters.values())


def test_the_example_of_shots_is_one_sweep(repository):
    swept = read_spec(repository / "examples" / "shots-embedded.toml", RecognitionSpec)
    assert swept.every_shots == (1, 2, 4, 8, 16)
    assert [one.label for one in swept.learners] == ["zero-shot", "CoOp", "KgCoOp", "GMoP"]


def test_no_depth_is_silently_cut_down_to_the_blocks_of_a_tower(spec, clip):
    text, image = clip.config.text.layers, clip.config.image.layers
    for one in spec.learners:
        for setting in {"depth", "text_depth", "image_depth"} & set(one.settings):
            in_image_tower = setting == "image_depth" or one.learner == "VPT"
            assert one.settings[setting] <= (image if in_image_tower else text), f"{one.label}: {setting}"
