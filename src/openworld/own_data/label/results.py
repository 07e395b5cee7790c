"""Every number that labels give, as tidy rows: of each model, and of the difference of two.

Images of which a person cannot tell count as whatever lowers, and as whatever raises, a number most; its interval then
reaches from the lower end of the one to the upper end of the other, and its value is half way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.labels import LabelledNumber, LabelledQuality, estimate
from openworld.metrics import SOFT_QUANTITIES, Outcomes, holm
from openworld.own_data.label.kept_plan import KeptPlan
from openworld.own_data.label.question import ImageAnswer
from openworld.own_data.label.reading import LabelledBatches
from openworld.results import METRICS, Comparison, Interval, Metric, Result, Results, Value

QUANTITIES = {
    "openworld_auc": METRICS["openworld_auc"],
    "base_accuracy": replace(METRICS["base_accuracy"], title="base accuracy"),
    "new_accuracy": replace(METRICS["new_accuracy"], title="new accuracy"),
    "auroc": METRICS["auroc"],
    "overall_accuracy": METRICS["overall_accuracy"],
    "base_share": Metric("base_share", "share of base", better=0),
}
"""As rows of a table, where "base" alone says too little."""

ALL, LABELLED, BASE, NEW, UNSURE = "all", "labelled", "labelled base", "labelled new", "cannot tell"
"""Which images are counted."""

THESE, LIKE_THESE = "labels", "images"
"""What the intervals are over: other draws of the labels on these images, and other images like these too."""


@dataclass(frozen=True, eq=False)
class LabelledStream:
    """What the labels of a plan say; seconds: that answers took, of the page."""

    kept: KeptPlan
    folder: Path
    batches: LabelledBatches
    seconds: tuple[float, ...] = ()
    known: dict[tuple[ImageAnswer, ...], LabelledQuality] = field(default_factory=dict)  # by fills, as computed
    linear: dict[tuple[str, int], dict[str, np.ndarray]] = field(default_factory=dict)  # weights, as computed

    __repr__ = short_repr

    @cached_property
    def main(self) -> str:
        return self.kept.plans[0].of

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Labels, and how many of them are on base and on new images; the rest nobody could tell."""
        answers = [answer for own in self.batches.answers for answer in own if answer is not None]
        base = sum(answer.base is not False for answer in answers)
        return len(answers), base, len(answers) - base

    def number(self, quantity: str, models: tuple[int, ...]) -> tuple[Value, float | None]:
        """Return a number of a model, (0,) or (1,), or the difference of both, (0, 1); and of that the p-value."""
        estimates = []
        for fills in self._fills(quantity, models):
            try:
                if fills not in self.known:
                    *earlier, (plan, answers) = self.batches.filled(fills)
                    self.known[fills] = estimate(plan, answers, earlier=earlier, groups=self.kept.groups)
                quality = self.known[fills]
                own = quality.difference(quantity) if len(models) == 2 else quality.of(quantity, models[0])
            except OpenworldError as error:  # the plan or the answers say nothing of it
                return Value(None, reason=str(error).rstrip(".")), None
            if own.value is None:
                return Value(None, reason=own.reason or ""), None
            estimates.append(own)
        values, intervals = [own.value for own in estimates if own.value is not None], []
        for over, n in ((THESE, self.batches.used), (LIKE_THESE, self.kept.size)):
            ends = [own.interval(like_these=over == LIKE_THESE) for own in estimates]
            whole = [each for each in ends if each is not None]
            if len(whole) == len(ends):
                intervals.append(Interval(float(min(whole)[0]), float(max(high for _, high in whole)), over, n))
        return Value(float(min(values) + max(values)) / 2, tuple(intervals)), _largest_p(estimates, models)

    def _fills(self, quantity: str, models: tuple[int, ...]) -> list[tuple[ImageAnswer, ...]]:
        """Return what may stand for images of which a person cannot tell: the lowest, the highest, and all alike."""
        batches = self.batches
        if not batches.unsure:
            return [()]
        options = [[names.read(option.code) for option in names.options()] for names, _ in batches.unsure]
        effects = [
            [self._effect(quantity, models, row, answer) for answer in own]
            for own, (_, row) in zip(options, batches.unsure, strict=True)
        ]
        extremes = [
            tuple(own[int(pick(effect))] for own, effect in zip(options, effects, strict=True))
            for pick in (np.argmin, np.argmax)
        ]
        alike = [tuple(own[min(place, len(own) - 1)] for own in options) for place in range(max(map(len, options)))]
        return list(dict.fromkeys([*extremes, *alike]))

    def _effect(self, quantity: str, models: tuple[int, ...], row: int, answer: ImageAnswer) -> float:
        """Return how an answer would move a number, to first order and as the proxies expect the rest."""
        effect = 0.0
        for sign, model in zip((1.0, -1.0), models, strict=False):
            weights = self._weights(quantity, model)
            side = "new" if answer.base is False else "base"
            right = float(answer.right[model])
            outcome = {side: 1.0, f"{side}_right": right, "right": right}
            effect += sign * sum(weights[name][row] * value for name, value in outcome.items())
        return effect

    def _weights(self, quantity: str, model: int) -> dict[str, np.ndarray]:
        """Return by how much each outcome of an image moves a number, float64[N]: the influence is linear in them."""
        key = quantity, model
        if key not in self.linear:
            expected = self.kept.plans[0].streams[model].expectation
            size, none = len(expected.outcomes), np.zeros(len(expected.outcomes))
            zero = Outcomes(none, none, none, none, none)
            names = ("base_right", "new_right", "base", "new", "right")
            self.linear[key] = {
                name: expected.influence(quantity, replace(zero, **{name: np.ones(size)}))
                if expected.value_of(quantity) is not None
                else none
                for name in names
            }
        return self.linear[key]


def results_of(labelled: LabelledStream) -> Results:
    """Return all rows, and the tests of differences, corrected together."""
    models, rows, tests = labelled.kept.models, [], []
    # Where only images on which two models differ were drawn, nothing but the difference is known.
    difference_alone = len(models) == 2 and labelled.main == "overall_accuracy"
    for quantity in quantities_of(labelled):
        metric = METRICS["accuracy"] if labelled.kept.closed else QUANTITIES[quantity]
        if not difference_alone:
            for place, model in enumerate(models[: 1 if quantity == "base_share" else None]):
                rows.append(Result(model, metric, labelled.number(quantity, (place,))[0]))
        if len(models) == 2 and quantity != "base_share":
            value, p = labelled.number(quantity, (0, 1))
            rows.append(Result(difference_entity(labelled), difference_of(metric), value))
            tests.append(Comparison(*models, metric, value.value, p, value.reason, value.over(THESE)))
    tested = [place for place, own in enumerate(tests) if own.p is not None]
    for place, p in zip(tested, holm([tests[place].p for place in tested]) if tested else (), strict=True):
        tests[place] = replace(tests[place], p=p)

    labels, base, new = labelled.counts
    sides = {} if labelled.kept.closed else {BASE: base, NEW: new}
    unsure = {UNSURE: len(labelled.batches.unsure)} if labelled.batches.unsure else {}
    for images, count in ({ALL: labelled.kept.size, LABELLED: labels} | sides | unsure).items():
        rows.append(Result("", METRICS["images"], Value(count), {"images": images}))
    return Results("label", tuple(rows), tuple(tests))


def quantities_of(labelled: LabelledStream) -> list[str]:
    """Return the quantities that a plan can speak of, the one that it serves first."""
    if labelled.kept.closed:
        return ["overall_accuracy"]
    names = [name for name in QUANTITIES if name in SOFT_QUANTITIES]
    if any(batch.joint is None for batch in labelled.kept.batches):
        names.remove("overall_accuracy")
    return [labelled.main, *(name for name in names if name != labelled.main)]


def difference_of(metric: Metric) -> Metric:
    return Metric(f"{metric.key}_difference", metric.title, "points", 1, metric.better, (-1.0, 1.0))


def difference_entity(labelled: LabelledStream) -> str:
    first, second = labelled.kept.models
    return f"{first} minus {second}"


def _largest_p(found: Sequence[LabelledNumber], models: tuple[int, ...]) -> float | None:
    """Return the p-value of a difference whatever unsure images are; 1 where they may turn it around."""
    p_values = [p for number in found if (p := number.p_value()) is not None]
    if len(models) != 2 or len(p_values) < len(found):
        return None
    values = [number.value for number in found if number.value is not None]
    return 1.0 if min(values) < 0 < max(values) else max(p_values)
