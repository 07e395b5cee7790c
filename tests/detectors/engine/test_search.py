"""Settings searched over passes that are made once: the same choice and scores as running every setting by itself."""

from itertools import combinations

import numpy as np
import pytest
import torch
from seen_images import whole
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.detectors import (
    DETECTORS,
    GEN,
    KNN,
    MSP,
    VRA,
    Relation,
    ViM,
    candidates,
    gather,
    published_grid,
    score_together,
)
from openworld.detectors.engine.search import settings_of
from openworld.testing import small_seen

ENDS = (60, 65, 70, 75, 80, 85, 90, 95, 99)
PUBLISHED = {  # `postprocessor_sweep` of Jingkang50/OpenOOD, configs/postprocessors, where it has several values
    "ASH": {"percent": [65, 70, 75, 80, 85, 90, 95]},
    "SCALE": {"percent": [65, 70, 75, 80, 85, 90, 95]},
    "ReAct": {"percent": [85, 90, 95, 99]},
    "ViM": {"dimensions": [256, 1000]},
    "GEN": {"gamma": [0.01, 0.1, 0.5, 1, 2, 5, 10], "largest": [10, 50, 100, 200, 500, 1000]},
    "KNN": {"k": [50, 100, 200, 500, 1000]},
    "ODIN": {"temperature": [1, 10, 100, 1000], "step": [0.0014, 0.0028]},
    "VRA": {"high": [85, 90, 95, 99], "low": [1, 5, 10, 15]},
    "NCI": {"alpha": [0.0001, 0.001, 0.01, 0.1]},
    "Relation": {"power": [1, 2, 4, 6, 8]},
    "fDBD": {"centred": [True, False]},
    "MCM": {"temperature": [0.01, 1, 10]},
    "AdaSCALE": {"low, high": list(combinations(ENDS, 2))},
}


def test_grids_are_those_that_were_published():
    grids = {name: published_grid(kind()) for name, kind in DETECTORS.items()}
    found = {name: {key: list(values) for key, values in grid.items()} for name, grid in grids.items() if grid}
    assert found == PUBLISHED


@pytest.mark.parametrize("name", [name for name in DETECTORS if name in PUBLISHED])
def test_every_published_setting_is_one_that_the_detector_can_have(name):
    kind = DETECTORS[name]
    every = [kind(**settings) for settings in settings_of(published_grid(kind()))]
    assert len(set(every)) == len(every) > 1 and kind() in every


@pytest.fixture
def seen():
    """Training images, validation images and two sets of others."""
    return whole(), whole(2, 31), small_seen(3, 23, known=False), small_seen(4, 17, known=False)


GRIDS = {
    "GEN": (GEN(), {"gamma": (0.1, 1, 5), "largest": (1, 2, 10)}),
    "KNN": (KNN(), {"k": (1, 7, 30)}),
    "VRA": (VRA(), {"high": (85.0, 99.0), "low": (1.0, 15.0, 30.0)}),
}


def by_pairs(known, strange):
    """AUROC: the share of pairs in which the in-distribution image has the larger score."""
    return np.mean([[1.0 if a > b else 0.5 if a == b else 0.0 for b in strange] for a in known])


def test_the_choice_and_its_scores_are_those_of_every_setting_by_itself(seen):
    train, known, *strange = seen
    tried = candidates(
        {name: own for name, (own, _) in GRIDS.items()}, {name: grid for name, (_, grid) in GRIDS.items()}
    )
    fitted = gather(tried.detectors, [train]).fit()
    scores = [
        {label: own.double().numpy() for label, own in score_together(fitted, images).items()}
        for images in (known, *strange)
    ]
    searches = {search.detector: search for search in tried.choose(scores[0], scores[1:])}
    chosen = tried.chosen(fitted, list(searches.values()))
    assert list(chosen) == list(GRIDS) == list(searches)
    for name, (detector, grid) in GRIDS.items():
        first, *rest = grid.items()
        # Settings in the order of OpenOOD's recursion: the last name outermost.
        tries = [{first[0]: value} for value in first[1]]
        tries = [{**one, name: value} for name, values in rest for value in values for one in tries] or tries
        areas = []
        for settings in tries:
            alone = type(detector)(**settings).fit(train)
            known_scores, *others = (alone.score(images).double().numpy() for images in (known, *strange))
            areas.append(np.mean([by_pairs(known_scores, other) for other in others]))
        search, best = searches[name], type(detector)(**tries[np.argmax(areas)])
        assert [settings for settings, _ in search.trials] == tries
        assert [area.value for _, area in search.trials] == pytest.approx(areas, abs=1e-9)
        assert chosen[name].detector == best
        assert torch.equal(chosen[name].score(known), best.fit(train).score(known))


def test_of_settings_that_are_worth_the_same_the_first_is_chosen_and_detectors_without_a_grid_stay(seen):
    tried = candidates({"MSP": MSP(), "KNN": KNN(k=50)}, {"KNN": {"k": (5, 50)}})
    one = {name: np.array([1.0, 2.0]) for name in tried.detectors}
    (search,) = tried.choose(one, [one])
    assert (search.detector, search.chosen, search.default) == ("KNN", 0, 1)
    assert list(candidates({"MSP": MSP(), "KNN": KNN(k=50)}, {}).detectors) == ["MSP", "KNN"]
    with pytest.raises(OpenworldError, match="KNN has no such setting"):
        candidates({"KNN": KNN()}, {"KNN": {"neighbours": (1, 2)}})


def test_a_setting_that_cannot_learn_is_recorded_with_its_reason_and_never_chosen(seen):
    train, known, strange, _ = seen
    tried = candidates({"ViM": ViM(), "KNN": KNN()}, {"ViM": {"dimensions": (3, 100)}, "KNN": {"k": (91, 1000)}})
    fitted, refused = gather(tried.detectors, [train]).fit_able()
    scores = [{label: own.numpy() for label, own in score_together(fitted, part).items()} for part in (known, strange)]
    (search,) = tried.choose(scores[0], scores[1:], refused=refused)
    assert search.detector == "ViM" and search.trials[search.chosen][0] == {"dimensions": 3}
    assert search.trials[1][1].value is None and "100 dimensions" in search.trials[1][1].reason
    assert list(tried.unable(refused)) == ["KNN"] and "91 neighbour" in tried.unable(refused)["KNN"]
    tried.require_images(91)
    with pytest.raises(OpenworldError, match="91 neighbour"):
        tried.require_images(90)


def test_a_bank_that_several_settings_read_is_held_once(seen):
    tried = candidates({"KNN": KNN(), "Relation": Relation()}, {"KNN": {"k": (1, 5)}, "Relation": {"power": (1, 2)}})
    fitted, _ = gather(tried.detectors, [seen[0]]).fit_able()
    assert len({id(fitted[label].state) for label in tried.labels_of("KNN")}) == 1
    assert len({id(fitted[label].state) for label in tried.labels_of("Relation")}) == 1
    assert torch.equal(fitted["KNN: k 1"].state, normalize(seen[0].features, dim=1))


def test_intervals_are_over_groups_of_images_where_these_are_not_independent(seen):
    tried = candidates({"KNN": KNN()}, {"KNN": {"k": (1, 5)}})
    dice = np.random.default_rng(0)
    known, strange = ({name: dice.normal(shift, 1, 40) for name in tried.detectors} for shift in (1, 0))
    (alone,) = tried.choose(known, [strange])
    (pairs,) = tried.choose(
        {name: np.repeat(own, 4) for name, own in known.items()},
        [{name: np.repeat(own, 4) for name, own in strange.items()}],
        groups=(np.repeat(np.arange(40), 4), [np.repeat(np.arange(40, 80), 4)]),
    )
    one, other = (search.trials[search.chosen][1] for search in (alone, pairs))
    assert other.value == pytest.approx(one.value)
    assert other.over("images").width == pytest.approx(one.over("images").width, rel=0.05)
