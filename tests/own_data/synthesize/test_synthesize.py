"""Syn-IS around the painting: requests, divisions that are kept, painters by name; and the benchmark on a set."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from openworld import OpenworldError, backbones, datasets
from openworld.datasets import ImageSet
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.published_cells import given_cells
from openworld.own_data.shift.images import ImageCollection, Reader
from openworld.own_data.synthesize.command import PAINTERS, drawings, find_styles
from openworld.own_data.synthesize.plan import (
    PromptDivision,
    SynthesisOptions,
    divide,
    keep_division,
    kept_division,
    plan,
    require_readable,
)
from openworld.shifts import PUBLISHED_QUANTILES, Decomposition, Levels, equal_width_levels
from openworld.shifts.synthesis import RenderedPainter, generate, prompt_styles, read_generated, rendered_styles


@pytest.fixture(scope="module")
def clip():
    return backbones.load("embedded")


@pytest.fixture(scope="module")
def halves(clip):
    return Decomposition.of_matrix(torch.eye(clip.config.joint_dimension), about={"method": "by hand"})


@pytest.fixture(scope="module")
def known():
    images = datasets.load("emoji-concepts", part="test")
    return ImageCollection("known", images.subset(range(30)), True), ImageCollection(
        "more", images.subset(range(30, 50)), True
    )


@pytest.fixture
def wanted():
    return SynthesisOptions(("cat", "owl", "kettle"), rendered_styles(), each=2, k=3, levels=3, least=1)


@pytest.fixture
def divided(wanted, known, halves, clip):
    """A function that divides prompts by the references, perhaps with other settings."""
    return lambda references=known, told=lambda *_: None, **changed: divide(
        replace(wanted, **changed), references, halves, Reader(clip, 0, told)
    )


def test_several_references_are_one(divided):
    heard = []
    found = divided(told=lambda *one: heard.append(one))
    images = ImageSet.subset(datasets.load("emoji-concepts", part="test"), range(50))
    whole = divided((ImageCollection("all", images, True),))
    assert found.known == whole.known == 50
    for half in ("semantic", "covariate"):
        np.testing.assert_allclose(found.degrees[half], whole.degrees[half], rtol=0, atol=1e-6)
        assert found.cuts[half] == equal_width_levels(found.degrees[half], PUBLISHED_QUANTILES[half], 3)
    assert heard[-1] == ("measuring prompts", 51, 51)
    farther = divided(k=50)  # the last neighbour
    assert all((found.degrees[half] < farther.degrees[half]).all() for half in found.degrees)


def test_a_division_is_kept_and_read_for_its_own_request_alone(wanted, known, halves, clip, divided, tmp_path):
    request = wanted.request(known, clip, {"by": "hand"})
    assert kept_division(tmp_path / "set", request) is None
    bare = replace(wanted, styles=tuple(replace(style, prompt="a {}.") for style in wanted.styles))
    assert bare.request(known, clip, {"by": "hand"}) != request
    division = divided()
    keep_division(tmp_path / "set", wanted, request, division, halves)
    found = kept_division(tmp_path / "set", request)
    assert found.cuts == division.cuts and found.known == 50
    assert plan(wanted, found, request).fingerprint == plan(wanted, division, request).fingerprint
    with pytest.raises(OpenworldError, match="begun with other decomposition"):
        kept_division(tmp_path / "set", request | {"decomposition": {"by": "chance"}})
    (tmp_path / "set" / "division" / "prompts.parquet").unlink()
    with pytest.raises(OpenworldError, match="remove .* and begin anew"):
        kept_division(tmp_path / "set", request)


@pytest.fixture
def scattered():
    degrees = np.random.RandomState(0).uniform(size=(2, 51))
    cuts = {"semantic": Levels((0.3, 0.6)), "covariate": Levels((0.5,))}
    return PromptDivision({"semantic": degrees[0], "covariate": degrees[1]}, cuts, 9)


def test_a_plan_has_the_cells_of_its_division_and_the_draws_of_its_seed(wanted, scattered):
    one, other = (plan(replace(wanted, seed=seed), scattered, {}) for seed in (0, 1))
    assert one.shape == (2, 3) and one.prompt.tolist() != other.prompt.tolist()
    for half, levels in (("semantic", one.semantic), ("covariate", one.covariate)):
        assert scattered.cuts[half].of(scattered.degrees[half][one.prompt]).tolist() == levels.tolist()


def test_wrong_wishes_are_refused(wanted, divided, clip):
    with pytest.raises(OpenworldError, match="neighbour 51 needs 51 or more"):
        divided(k=51)
    with pytest.raises(OpenworldError, match="reads at most 32; .* or --styles of fewer words"):
        require_readable(replace(wanted, styles=prompt_styles()), clip)
    require_readable(wanted, clip)


def test_every_painter_says_what_suits_it():
    assert set(PAINTERS) == {"sdxl-turbo", "rendered"}
    assert find_styles("syn-is", "rendered") == prompt_styles() == find_styles("", "sdxl-turbo")
    assert find_styles("rendered", "sdxl-turbo") == rendered_styles()


def test_names_of_several_sets_are_written_alike(tmp_path):
    images = datasets.load("emoji-concepts", part="test")
    own = tmp_path / "own" / images.classnames[1].upper().replace(" ", "_")
    own.mkdir(parents=True)
    images.image(0).save(own / "0.png")
    both = drawings(("emoji-concepts/noto/test", str(tmp_path / "own")))
    assert len(both.classnames) == 100 and len(both) == len(images) + 1
    assert both.labels[-1] == 1


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    """A tiny set: four classes, two of them known to the benchmark below, in seventeen styles and 3 x 3 cells."""
    folder = tmp_path_factory.mktemp("twin")
    images = datasets.load("emoji-concepts", part="test")
    wanted = SynthesisOptions(images.classnames[:4], rendered_styles(), each=3, levels=3, least=1)
    degrees = np.random.RandomState(0).uniform(size=(2, 68))
    division = PromptDivision(
        {"semantic": degrees[0], "covariate": degrees[1]},
        {half: Levels((0.3, 0.6)) for half in ("semantic", "covariate")},
        9,
    )
    generate(plan(wanted, division, {"by": "chance"}), RenderedPainter(images), folder / "set")
    return str(folder / "set")


def test_a_set_is_a_division_that_is_given(twin):
    found, cells = read_generated(twin), given_cells(CellsSpec(generated=twin))
    assert cells.shape == (3, 3) and len(cells.images) == 27
    assert cells.images.fingerprint == found.images.fingerprint and cells.styles == found.styles
    assert np.array_equal(cells.semantic, found.grid.semantic) and np.array_equal(cells.style, found.style)
