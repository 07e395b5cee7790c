"""Settings searched over passes that are made once: the same choice and scores as running every setting by itself."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.detectors import (
    ASH,
    DETECTORS,
    FDBD,
    GEN,
    KNN,
    MCM,
    MSP,
    NCI,
    ODIN,
    SCALE,
    VRA,
    Activations,
    AdaSCALE,
    Head,
    ReAct,
    Relation,
    Texts,
    ViM,
    candidates,
    gather,
    plan,
    published_grid,
    score_together,
    watch,
)
from openworld.detectors.engine.search import settings_of

PAIRS = [
    (60, 65), (60, 70), (60, 75), (60, 80), (60, 85), (60, 90), (60, 95), (60, 99), (65, 70), (65, 75), (65, 80),
    (65, 85), (65, 90), (65, 95), (65, 99), (70, 75), (70, 80), (70, 85), (70, 90), (70, 95), (70, 99), (75, 80),
    (75, 85), (75, 90), (75, 95), (75, 99), (80, 85), (80, 90), (80, 95), (80, 99), (85, 90), (85, 95), (85, 99),
    (90, 95), (90, 99), (95, 99),
]  # fmt: skip
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
    "AdaSCALE": {"low, high": PAIRS},
}
WIDTH, CLASSES = 6, 4


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
    """Training images, validation images and two sets of others, as features behind a ReLU, with a head."""
    generator = torch.Generator().manual_seed(0)
    head = Head(torch.randn(CLASSES, WIDTH, generator=generator), torch.randn(CLASSES, generator=generator))
    centres = 2 * torch.rand(CLASSES, WIDTH, generator=generator)
    texts = Texts(torch.randn(CLASSES, WIDTH, generator=generator))

    def images(count, spread, known=True):
        labels = torch.arange(count) % CLASSES
        features = spread * torch.randn(count, WIDTH, generator=generator) + (centres[labels] if known else 0.5)
        return Activations(features.relu() + 0.01, head, labels=labels, texts=texts)

    return images(60, 0.5), images(31, 0.5), images(23, 0.7, False), images(17, 1.0, False)


GRIDS = {
    "ASH": (ASH(), {"percent": (0, 40, 60, 80)}),
    "SCALE": (SCALE(), {"percent": (0, 40, 60, 80)}),
    "ReAct": (ReAct(), {"percent": (50, 85, 99)}),
    "ViM": (ViM(2), {"dimensions": (1, 2, 4)}),
    "GEN": (GEN(), {"gamma": (0.1, 1, 5), "largest": (1, 2, 10)}),
    "KNN": (KNN(), {"k": (1, 7, 30)}),
    "VRA": (VRA(), {"high": (85, 99), "low": (1, 15, 30)}),
    "NCI": (NCI(), {"alpha": (0.0001, 0.1, 1.0)}),
    "Relation": (Relation(), {"power": (1, 4, 8)}),
    "fDBD": (FDBD(), {"centred": (True, False)}),
    "MCM": (MCM(), {"temperature": (0.01, 1, 10)}),
}


def by_pairs(known, strange):
    """AUROC: the share of pairs in which the in-distribution image has the larger score."""
    return np.mean([[1.0 if a > b else 0.5 if a == b else 0.0 for b in strange] for a in known])


def one_after_another(grid):
    """Settings in the order of OpenOOD's recursion: the last name outermost."""
    (name, values), *rest = grid.items()
    if not rest:
        return [{name: value} for value in values]
    inner = one_after_another(dict(list(grid.items())[:-1]))
    last, outer = list(grid.items())[-1]
    return [{**settings, last: value} for value in outer for settings in inner]


def naive(detector, grid, train, known, strange):
    """Every setting by itself: fitted alone, and scored image set by image set; the best so far is kept."""
    tried, best, most = [], None, 0.0
    for settings in one_after_another(grid):
        fitted = type(detector)(**settings).fit(train)
        scores = [fitted.score(images).double().numpy() for images in (known, *strange)]
        area = np.mean([by_pairs(scores[0], other) for other in scores[1:]])
        tried.append((settings, area))
        if area > most:
            best, most = (settings, scores), area
    return tried, *best


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
        plain, settings, expected = naive(detector, grid, train, known, strange)
        search = searches[name]
        assert [trial.settings for trial in search.trials] == [each for each, _ in plain]
        assert [trial.auroc for trial in search.trials] == pytest.approx([area for _, area in plain], abs=1e-9)
        assert search.best.settings == settings
        assert chosen[name].detector == type(detector)(**settings)
        for images, own in zip((known, *strange), expected, strict=True):
            assert np.array_equal(chosen[name].score(images).double().numpy(), own)


def test_what_moves_images_is_searched_in_the_passes_of_one_plan():
    torch.manual_seed(0)
    layers = (torch.nn.Flatten(), torch.nn.Linear(12, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, CLASSES))
    train, known, strange = (torch.randn(count, 3, 2, 2) * scale for count, scale in ((30, 1), (21, 1), (13, 3)))
    watched = watch(torch.nn.Sequential(*layers).eval(), train[:2], pixel_std=[0.5] * 3)
    given = {"ODIN": ODIN(), "AdaSCALE": AdaSCALE(share=1.0)}
    grids = {"ODIN": {"temperature": (1.0, 100.0), "step": (0.1, 0.3)},
             "AdaSCALE": {"low, high": ((20.0, 40.0), (20.0, 80.0), (60.0, 80.0))}}  # fmt: skip
    tried = candidates(given, grids)
    route = plan(tried.detectors, watched)
    assert (route.passes.forwards, route.passes.backwards) == (1 + 4 + 1, 2 + 1)
    fitted = route.fit([(train, None)])
    scores = [route.score(fitted, [images]) for images in (known, strange)]
    scores = [{label: own.double().numpy() for label, own in part.items()} for part in scores]
    for search in tried.choose(scores[0], scores[1:]):
        areas = []
        for trial in search.trials:
            detector = type(given[search.detector])(
                **({} if search.detector == "ODIN" else {"share": 1.0}), **trial.settings
            )
            alone = plan([detector], watched)
            own = alone.fit([(train, None)])
            values = [alone.score(own, [images])[detector.name].double().numpy() for images in (known, strange)]
            areas.append(by_pairs(*values))
        assert [trial.auroc for trial in search.trials] == pytest.approx(areas, abs=1e-9)
        assert search.chosen == int(np.argmax(areas))


def test_of_settings_that_are_worth_the_same_the_first_is_chosen_and_detectors_without_a_grid_stay(seen):
    tried = candidates({"MSP": MSP(), "KNN": KNN(k=50)}, {"KNN": {"k": (5, 50)}})
    one = {name: np.array([1.0, 2.0]) for name in tried.detectors}
    (search,) = tried.choose(one, [one])
    assert (search.detector, search.chosen, search.default) == ("KNN", 0, 1)
    assert list(candidates({"MSP": MSP(), "KNN": KNN(k=50)}, {}).detectors) == ["MSP", "KNN"]


def test_a_setting_that_cannot_learn_is_recorded_with_its_reason_and_never_chosen(seen):
    train, known, strange, _ = seen
    tried = candidates({"ViM": ViM(), "KNN": KNN()}, {"ViM": {"dimensions": (3, 100)}, "KNN": {"k": (61, 1000)}})
    fitted, refused = gather(tried.detectors, [train]).fit_able()
    scores = [{label: own.numpy() for label, own in score_together(fitted, part).items()} for part in (known, strange)]
    (search,) = tried.choose(scores[0], scores[1:], refused=refused)
    assert search.detector == "ViM" and search.best.settings == {"dimensions": 3}
    assert search.trials[1].auroc is None and "100 dimensions" in search.trials[1].reason
    assert list(tried.unable(refused)) == ["KNN"] and "61 neighbour" in tried.unable(refused)["KNN"]
    tried.require_images(61)
    with pytest.raises(OpenworldError, match="61 neighbour"):
        tried.require_images(60)


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
    alone = tried.choose(known, [strange])[0].best
    pairs = tried.choose(
        {name: np.repeat(own, 4) for name, own in known.items()},
        [{name: np.repeat(own, 4) for name, own in strange.items()}],
        groups=(np.repeat(np.arange(40), 4), [np.repeat(np.arange(40, 80), 4)]),
    )[0].best
    assert pairs.auroc == pytest.approx(alone.auroc)
    assert pairs.high - pairs.low == pytest.approx(alone.high - alone.low, rel=0.05)


def test_a_setting_that_there_is_not_is_refused():
    with pytest.raises(OpenworldError, match="KNN has no such setting"):
        candidates({"KNN": KNN()}, {"KNN": {"neighbours": (1, 2)}})
    with pytest.raises(OpenworldError, match="k is 0"):
        candidates({"KNN": KNN()}, {"KNN": {"k": (0, 2)}})
    with pytest.raises(OpenworldError, match="unknown detector 'KNM'"):
        candidates({"KNN": KNN()}, {"KNM": {"k": (1, 2)}})
