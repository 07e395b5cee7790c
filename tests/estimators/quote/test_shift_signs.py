"""Signs of a shift: the statistic against SciPy, p-values under one law, what each sees, and what may hide."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import energy_distance
from simulated import outputs, refused

from openworld.estimators import Outputs
from openworld.estimators.quote import shift_signs as module
from openworld.estimators.quote.shift_signs import ShiftSign, ShiftSigns, energy, pairwise, shift_signs


def test_energy_is_scipys_in_one_dimension_and_the_definition_in_many():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 1)), rng.normal(0.5, 2.0, size=(30, 1))
    weights = np.r_[np.full(40, 1 / 40), np.full(30, -1 / 30)].astype(np.float32)[None]
    found = energy(pairwise(np.concatenate([x, y]).astype(np.float32)), weights)[0]
    assert found == pytest.approx(energy_distance(x[:, 0], y[:, 0]) ** 2, rel=1e-3)
    x, y = rng.normal(size=(40, 5)) + 100, rng.normal(size=(30, 5)) + 101
    expected = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    assert energy(pairwise(np.concatenate([x, y]).astype(np.float32)), weights)[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_equal_energies_count_as_equal_however_sums_are_rounded(seed):
    source, target = outputs(seed, 90, 4, 2.0), outputs(seed + 100, 60, 4, 2.0)
    rows = np.eye(4)[np.r_[source.predictions, target.predictions]].astype(np.float32)
    assert not pairwise(rows)[rows @ rows.T == 1].any()
    agree = np.concatenate([one.reference.argmax(1) == one.predictions for one in (source, target)]).astype(int)
    generator, is_source = np.random.default_rng(seed), np.repeat([2, -3], [90, 60])  # 180 times 1 / 90 and -1 / 60
    dealt = [generator.permutation(is_source) for _ in range(199)]
    reached = sum(abs(agree @ weights) >= abs(agree @ is_source) for weights in dealt)  # whole numbers
    assert shift_signs(source, target, deals=199, seed=seed)["agreement with the reference"].p == (1 + reached) / 200


def test_under_one_law_p_is_uniform_and_hardly_anything_speaks():
    everything = outputs(0, 6000, 4, 2.0)
    found = []
    for seed in range(40):
        rows = np.random.default_rng(seed).permutation(6000)[:150]
        found.append(shift_signs(everything.take(rows[:100]), everything.take(rows[100:]), deals=99, seed=seed))
    for name in ("outputs", "confidences", "named classes", "agreement with the reference"):
        p = np.array([signs[name].p for signs in found])
        assert 0.38 < p.mean() < 0.65 and (p < 0.1).mean() < 0.25, name
    assert sum(bool(signs.speaking) for signs in found) <= 6


@pytest.mark.parametrize(
    "name, change",
    [
        ("outputs", lambda one: replace(one, logits=one.logits + [0, 0, 0, 1.0])),
        ("confidences", lambda one: replace(one, logits=1.5 * one.logits)),
        ("named classes", lambda one: one.take(one.predictions < 3)),
        ("agreement with the reference", lambda one: replace(one, reference=one.reference[::-1])),
        ("agreement with a partner", lambda one: replace(one, partners=(one.partners[0][::-1],))),
        ("embeddings", lambda one: replace(one, features=one.features + 0.5)),
        ("appearance", lambda one: replace(one, appearance=one.appearance + [0.0, 0.01])),
    ],
)
def test_each_sign_sees_its_own_change(name, change):
    rng = np.random.default_rng(5)
    made = [outputs(seed, 250, 4, 2.0, partners=1) for seed in (0, 1)]
    units = [1.0, 0.01]  # appearance comes in unlike units
    source, target = (
        replace(one, features=rng.normal(size=(250, 3)) + 1, appearance=units * rng.normal(size=(250, 2)))
        for one in made
    )
    assert shift_signs(source, target, deals=199)[name].p > 0.01
    changed = shift_signs(source, change(target), deals=199)
    assert changed[name].p <= 0.01 and name in {sign.name for sign in changed.speaking}
    way = changed[name].change
    if name == "confidences":
        assert way > 0
    else:
        assert way < 0 if name.startswith("agreement") else way is None


def test_holm_by_hand():
    signs = ShiftSigns((ShiftSign("a", 0.02, 0), ShiftSign("b", 0.005, 0), ShiftSign("c", 0.9, 0)), 0.1)
    assert signs.adjusted == pytest.approx({"a": 0.04, "b": 0.015, "c": 0.9})
    assert [sign.name for sign in signs.speaking] == ["b", "a"]
    assert [sign.name for sign in replace(signs, signs=(*signs.signs, ShiftSign("d", 0.03, 0))).speaking] == ["b"]
    many = ShiftSigns(tuple(ShiftSign(str(place), 0.009 if place == 0 else 0.5, 0) for place in range(8)), 0.1)
    assert [sign.name for sign in many.speaking] == ["0"]  # below .01 by itself


def test_the_fall_that_may_hide_is_seen_where_it_is_made():
    source = outputs(0, 500, 4, 2.0)
    unseen = shift_signs(source, outputs(1, 200, 4, 2.0), deals=199).unseen
    assert 0.02 <= unseen <= 0.25 and shift_signs(source, outputs(1, 30, 4, 2.0), deals=199).unseen > unseen
    wrong, rng = source.wrong, np.random.default_rng(3)
    law = np.where(
        wrong, (wrong.mean() + unseen + 0.04) / wrong.sum(), (1 - wrong.mean() - unseen - 0.04) / (~wrong).sum()
    )
    seen = [
        bool(shift_signs(source, source.take(rng.choice(500, 200, p=law)), deals=99, seed=s).speaking)
        for s in range(10)
    ]
    assert sum(seen) >= 8
    faultless = Outputs(4 * np.eye(3)[np.arange(60) % 3], np.arange(60) % 3)
    assert shift_signs(faultless, faultless.take(slice(0, 30)), deals=19).unseen == 1.0


def test_of_many_images_a_sample_is_compared(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 100)
    source, target = outputs(0, 400, 4, 2.0), outputs(1, 400, 4, 0.5)
    once, again, other = (shift_signs(source, target, deals=199, seed=seed) for seed in (0, 0, 1))
    assert once["outputs"].p < 0.01 and once == again != other
    refused("needs labels", shift_signs, Outputs(source.logits), target)
