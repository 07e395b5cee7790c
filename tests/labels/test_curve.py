"""Labels for a curve: the plain numbers where all is labelled, unbiased means, images that tell nothing, refusals."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.labels import curve_stream, estimate_curve, plan_curve
from openworld.labels.curve import _worth, area_weights
from openworld.metrics import robustness

pytestmark = pytest.mark.base

N, CLASSES = 200, 4
LEVELS = (0.0, 0.5, 1.0)
NAMES = {0.0: [0, 1], 0.5: [0, 1, 2], 1.0: [1, 2, 3]}


class Made:
    """Images that stand at nested levels, two models, and true classes of which one stands nowhere."""

    def __init__(self, seed=0):
        generator = np.random.default_rng(seed)
        self.true = generator.integers(-1, CLASSES, N)
        logits = generator.normal(size=(N, CLASSES)) + 1.5 * np.eye(CLASSES + 1)[self.true][:, :CLASSES]
        other = logits + 0.8 * generator.normal(size=logits.shape)
        rows = [np.flatnonzero(generator.random(N) < 0.7) for _ in LEVELS]
        self.level = np.repeat(LEVELS, [len(own) for own in rows])
        self.image = np.concatenate(rows)
        absent = [np.setdiff1d(range(CLASSES), NAMES[level]) for level in LEVELS]
        self.tables = []
        for table in (logits, other):
            views = [table[own].copy() for own in rows]
            for view, names in zip(views, absent, strict=True):
                view[:, names] = -np.inf
            self.tables.append(np.concatenate(views))
        self.stream = curve_stream(self.level, *self.tables, self.image)
        curves = []
        for table in self.tables:
            right = table.argmax(axis=1) == self.true[self.image]
            curves.append([right[self.level == level].mean() for level in LEVELS])
        self.accuracy = curves[0]
        self.robustness = robustness(LEVELS, *curves)

    def classes(self, plan):
        return self.true[plan.images]


@pytest.fixture(scope="module")
def made():
    return Made()


@pytest.mark.parametrize("of", ["auc", "delta_auc"])
def test_all_labelled_give_the_plain_numbers_and_no_width(made, of):
    differ = len(np.unique(made.image[made.stream.differs]))
    plan = plan_curve(made.stream, len(made.stream.images) if of == "auc" else differ, of=of)
    curve = estimate_curve(plan, made.classes(plan))
    found = getattr(curve, of)
    assert of != "auc" or [number.value for number in curve.accuracy] == pytest.approx(made.accuracy)
    assert found.value == pytest.approx(getattr(made.robustness, of))
    assert found.interval() == (found.value, found.value) and found.interval(like_these=True)[0] < found.value


@pytest.mark.parametrize(("of", "n"), [("auc", 60), ("delta_auc", 40)])
@pytest.mark.parametrize("proxies", ["good", "wrong"])
def test_over_the_draw_the_number_is_unbiased_and_its_interval_holds(made, of, n, proxies):
    truth, values, widths = getattr(made.robustness, of), [], []
    stream = curve_stream(made.level, *made.tables, made.image)
    if proxies == "wrong":
        object.__setattr__(stream, "expected", np.random.default_rng(0).random(len(made.level)))
    held = 0
    for seed in range(100):
        plan = plan_curve(stream, n, of=of, seed=seed)
        number = getattr(estimate_curve(plan, made.classes(plan)), of)
        low, high = number.interval()
        values.append(number.value)
        widths.append((high - low) / 2)
        held += low <= truth <= high
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / 100**0.5)
    assert held >= 88
    assert proxies == "wrong" or 0.6 < plan.half_width() / np.mean(widths) < 1.7
    assert plan.chosen.tolist() == plan_curve(stream, n, of=of, seed=99).chosen.tolist()


def test_images_that_both_name_alike_are_not_drawn_for_a_difference(made):
    plan = plan_curve(made.stream, 30, of="delta_auc")
    assert set(plan.images) <= set(made.image[made.stream.differs])
    refused = estimate_curve(plan, made.classes(plan)).auc
    assert refused.value is None and "only images that the two name differently" in refused.reason
    few = plan_curve(made.stream, 5)
    number = estimate_curve(few, made.classes(few)).auc
    assert number.value is None and "5 labels came, 10 are needed" in number.reason and number.interval() is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: curve_stream(m.level[:-1], m.tables[0]), "logits has shape"),
        (lambda m: curve_stream(m.level, m.tables[0], m.tables[1][:, :3]), "zero_shot has shape"),
        (lambda m: curve_stream(m.level * 0, m.tables[0]), "1 value"),
        (lambda m: curve_stream(m.level * 3, m.tables[0]), "outside"),
        (lambda m: curve_stream(m.level, m.tables[0], image=m.image * 0), "twice at one level"),
        (lambda m: curve_stream(m.level, np.full_like(m.tables[0], -np.inf)), "-inf alone"),
        (lambda m: plan_curve(m.stream, 10_000), "there are 2?[0-9]+ images"),
        (lambda m: plan_curve(m.stream, 10_000, of="delta_auc"), "name differently"),
        (lambda m: plan_curve(curve_stream(m.level, m.tables[0]), 5, of="delta_auc"), "no zero_shot"),
        (lambda m: estimate_curve(plan_curve(m.stream, 20), [0] * 19), "19"),
        (lambda m: estimate_curve(plan_curve(m.stream, 20), [-2] * 20), "or -1"),
    ],
)
def test_what_will_not_do_is_refused(made, change, words):
    with pytest.raises(OpenworldError, match=words):
        change(made)


def test_labels_go_where_the_difference_of_two_models_is_least_certain():
    generator = np.random.default_rng(4)
    tables = [generator.normal(size=(6, 3)) for _ in range(2)]
    stream = curve_stream([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], *tables, [0, 1, 2, 0, 1, 2])
    first, second = stream.expected, stream.zero_shot_expected
    # One of two different names is right at most: the difference is +1, -1 or 0 with these chances.
    spread = np.sqrt(first + second - (first - second) ** 2) * (tables[0].argmax(1) != tables[1].argmax(1))
    possible, worth = _worth(stream, "delta_auc")
    np.testing.assert_allclose(worth, stream.over_images(area_weights(stream.levels), spread))
    np.testing.assert_array_equal(possible, np.bincount(stream.image, spread > 0) > 0)
