"""Answers of a plan, in the drawn order as far as they make a sample of their own, and every number that they give.

The images of a plan are in random order, so that the first of them are a random sample too (in strata: of each stratum,
as long as each has two). Answers behind a gap would be those that somebody chose to give; they wait. Images of which a
person cannot tell are no gap: they count as whatever lowers, and as whatever raises, a number most; its interval then
reaches from the lower end of the one to the upper end of the other, and its value is half way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.labels import (
    LabelAnswers,
    LabelledNumber,
    LabelledQuality,
    LabelPlan,
    estimate,
    label_answers,
    right_answers,
)
from openworld.metrics import SOFT_QUANTITIES, Outcomes, holm
from openworld.own_data.label.kept_plan import KeptBatch, KeptPlan
from openworld.own_data.label.question import ImageAnswer, Names, read_answers, same_name
from openworld.results import METRICS, Comparison, Interval, Metric, Result, Results, Value

UNSURE_SHARE = 0.1
"""Share of answers that may be "cannot tell"; of more, the bounds say nothing."""
FEWEST = 2  # labels of a stratum, where as many were drawn
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
"""What intervals are over: other draws of the labels on these images, and other images like these too."""


@dataclass(frozen=True, eq=False)
class LabelledStream:
    """Batches of a plan with their answers, as far as they are a sample; of the last perhaps its first images alone."""

    kept: KeptPlan
    plans: tuple[LabelPlan, ...]
    # of each image of the plans in order; None where a person cannot tell
    answers: tuple[tuple[ImageAnswer | None, ...], ...]
    images: tuple[KeptBatch, ...]  # the batches, cut alike
    waiting: int  # answers that are not used yet, since images before them have none
    missing: int  # images without an answer
    known: dict[tuple[ImageAnswer, ...], LabelledQuality] = field(default_factory=dict)  # by fills, as computed
    linear: dict[tuple[str, int], dict[str, np.ndarray]] = field(default_factory=dict)  # weights, as computed

    __repr__ = short_repr

    @property
    def unsure(self) -> list[tuple[Names, int]]:
        """The names and the row of each image of which a person cannot tell."""
        parts = zip(self.plans, self.images, self.answers, strict=True)
        return [
            (names, int(row))
            for plan, batch, own in parts
            for row, names, answer in zip(plan.chosen, batch.names, own, strict=True)
            if answer is None
        ]

    @property
    def used(self) -> int:
        return sum(map(len, self.answers))

    def filled(self, fills: Sequence[ImageAnswer] = ()) -> list[tuple[LabelPlan, LabelAnswers]]:
        """Return plans and answers, with `fills` in the place of the images that a person cannot tell."""
        rest, pairs = iter(fills), []
        for plan, own, batch in zip(self.plans, self.answers, self.images, strict=True):
            answers = [next(rest) if answer is None else answer for answer in own]
            right = np.array([answer.right for answer in answers], bool).reshape(len(answers), -1).T
            if answers[0].base is None:
                pairs.append((plan, right_answers(right)))
            else:
                base = np.array([answer.base for answer in answers], bool)
                among_all = _right_among_all(answers, batch)
                pairs.append((plan, label_answers(base, right & base, right & ~base, among_all)))
        return pairs

    @property
    def batches(self) -> list[tuple[LabelPlan, LabelAnswers]]:
        """Return the same with any fills: to draw more only needs which images are labelled."""
        return self.filled([names.read(names.options()[0].code) for names, _ in self.unsure])

    @cached_property
    def main(self) -> str:
        return self.kept.plans[0].of

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Labels, and how many of them are on base and on new images; the rest nobody could tell."""
        answers = [answer for own in self.answers for answer in own if answer is not None]
        base = sum(answer.base is not False for answer in answers)
        return len(answers), base, len(answers) - base

    def number(self, quantity: str, models: tuple[int, ...]) -> tuple[Value, float | None]:
        """Return a number of a model, (0,) or (1,), or the difference of both, (0, 1); and of that the p-value."""
        estimates = []
        for fills in self._fills(quantity, models):
            try:
                if fills not in self.known:
                    *earlier, (plan, answers) = self.filled(fills)
                    self.known[fills] = estimate(plan, answers, earlier=earlier, groups=self.kept.groups)
                quality = self.known[fills]
                own = quality.difference(quantity) if len(models) == 2 else quality.of(quantity, models[0])
            except OpenworldError as error:  # the plan or the answers say nothing of it
                return Value(None, reason=str(error).rstrip(".")), None
            if own.value is None:
                return Value(None, reason=own.reason or ""), None
            estimates.append(own)
        values, intervals = [own.value for own in estimates if own.value is not None], []
        for over, n in ((THESE, self.used), (LIKE_THESE, self.kept.size)):
            ends = [own.interval(like_these=over == LIKE_THESE) for own in estimates]
            whole = [each for each in ends if each is not None]
            if len(whole) == len(ends):
                intervals.append(Interval(float(min(whole)[0]), float(max(high for _, high in whole)), over, n))
        return Value(float(min(values) + max(values)) / 2, tuple(intervals)), _largest_p(estimates, models)

    def _fills(self, quantity: str, models: tuple[int, ...]) -> list[tuple[ImageAnswer, ...]]:
        """Return what may stand for images of which a person cannot tell: the lowest, the highest, and all alike."""
        if not self.unsure:
            return [()]
        options = [[names.read(option.code) for option in names.options()] for names, _ in self.unsure]
        effects = [
            [self._effect(quantity, models, row, answer) for answer in own]
            for own, (_, row) in zip(options, self.unsure, strict=True)
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


def _largest_p(found: Sequence[LabelledNumber], models: tuple[int, ...]) -> float | None:
    """Return the p-value of a difference whatever unsure images are; 1 where they may turn it around."""
    p_values = [p for number in found if (p := number.p_value()) is not None]
    if len(models) != 2 or len(p_values) < len(found):
        return None
    values = [number.value for number in found if number.value is not None]
    return 1.0 if min(values) < 0 < max(values) else max(p_values)


def answers_in(
    kept: KeptPlan, folder: Path, files: Sequence[Path] = ()
) -> tuple[dict[str, ImageAnswer | None], tuple[str, ...]]:
    """Read the answers of a plan, from the files or the worksheets and answers*.csv in its folder; and their names."""
    sheets = list(files)
    if not sheets:
        worksheets = [folder / batch.file("worksheet.csv", place) for place, batch in enumerate(kept.batches)]
        sheets = [path for path in worksheets if path.is_file()] + sorted(folder.glob("answers*.csv"))
    if not sheets:
        raise OpenworldError(f"{folder} holds no worksheet.csv and no answers*.csv; give the file with --answers.")
    names = {batch.mark: dict(zip(batch.ids, batch.names, strict=True)) for batch in kept.batches}
    answers = read_answers(sheets, names, kept.base_names, kept.new_names)
    return answers, tuple(file.name for file in sheets)


def labelled(kept: KeptPlan, answers: Mapping[str, ImageAnswer | None]) -> LabelledStream:
    """Return the batches as far as their answers are a sample; refuse gaps that leave too little, too many unsure."""
    plans, given, images = [], [], []
    waiting = missing = 0
    for plan, batch in zip(kept.plans, kept.batches, strict=True):
        done = [own in answers for own in batch.ids]
        whole = done.index(False) if False in done else len(done)
        missing += len(done) - sum(done)
        if missing and not whole and plans:  # a batch that has not been begun
            break
        plans.append(plan if whole == len(done) else first_images(plan, whole, sum(done)))
        images.append(replace(batch, ids=batch.ids[:whole], names=batch.names[:whole]))
        given.append(tuple(answers[own] for own in batch.ids[:whole]))
        waiting += sum(done[whole:])
        if missing:
            break
    labels = LabelledStream(kept, tuple(plans), tuple(given), tuple(images), waiting, missing)
    if len(labels.unsure) > UNSURE_SHARE * labels.used:
        raise OpenworldError(
            f'of {len(labels.unsure)} of {labels.used} images the answer is "cannot tell", more than '
            f"{100 * UNSURE_SHARE:.0f} %; what is known of the rest says too little of these. Let somebody look who "
            "can tell."
        )
    return labels


def first_images(plan: LabelPlan, count: int, answered: int) -> LabelPlan:
    """Return the plan of the first images of the drawn order, a sample with probabilities of its own."""
    missing = len(plan) - answered
    if plan.is_poisson:
        raise OpenworldError(f"{missing} of {len(plan)} images have no answer; the poisson design needs all of them.")
    inside = plan.stratum >= 0
    held, strata = np.bincount(plan.stratum[inside]), plan.stratum[plan.chosen]
    wanted = np.minimum(FEWEST, np.bincount(strata, minlength=held.size))
    drawn = np.bincount(strata[:count], minlength=held.size)
    if (drawn < wanted).any():
        sizes = range(count, len(plan) + 1)
        enough = next(n for n in sizes if (np.bincount(strata[:n], minlength=held.size) >= wanted).all())
        raise OpenworldError(
            f"{missing} of {len(plan)} images have no answer, and only the first {count} in the order of the worksheet "
            f"are answered without a gap; the first {enough} are needed so that each of {held.size} strata has enough."
        )
    inclusion = plan.inclusion.copy()
    inclusion[inside] = (drawn / held)[plan.stratum[inside]]
    return replace(plan, chosen=plan.chosen[:count], inclusion=inclusion)


def _right_among_all(answers: Sequence[ImageAnswer], batch: KeptBatch) -> np.ndarray | None:
    """Return whether each model's name among all names is right, bool[M, n]; None where somebody would have to ask."""
    if batch.joint is None:
        return None
    right = np.zeros((len(batch.joint), len(answers)), bool)
    for model, names in enumerate(batch.joint):
        for place, (answer, joint, own) in enumerate(zip(answers, names, batch.names, strict=False)):
            is_right = _is_right(answer, model, joint, own)
            if is_right is None:
                return None
            right[model, place] = is_right
    return right


def _is_right(answer: ImageAnswer, model: int, joint: str, names: Names) -> bool | None:
    """Whether a name among all is right, as far as an answer on the names of both halves tells."""
    if answer.label:
        return same_name(answer.label, joint)
    given = names.as_base if answer.base else names.as_new
    for name, right in zip(given, answer.right, strict=True):
        if right:  # the true class is known
            return same_name(name, joint)
    if any(same_name(name, joint) for name in given):
        return False
    # Of the other half, and so wrong; or of this half and yet not the name that was asked about.
    other = names.as_new if answer.base else names.as_base
    return False if same_name(other[model], joint) else None


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
    unsure = {UNSURE: len(labelled.unsure)} if labelled.unsure else {}
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
