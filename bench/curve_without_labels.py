"""The dynamic robustness curve without labels, where the labels are known: by how much is it off, and what is no use.

    python bench/curve_without_labels.py [--quick] [--seeds 1 2] [--draws 1000]

Courses of the embedded world: new classes join (emerging classes) or take over (varying ratio), on two data sets of 100
concepts, base half tuned on; and three other drawing styles take over (distribution shift), all classes tuned on. Four
learners, ten epochs. The labelled source is the validation part: 200 images of base classes, 400 of all. Printed are

1. bias and mean |error| in points of the levels behind 0 and of the curve's numbers, by estimator, and by other choices
   of the names among which T and threshold are fitted;
2. the same by learner and by scenario, for the estimator that is quoted;
3. the difference to zero-shot without labels: how often its sign is right, and zero-shot as its own reference, which
   wins by construction;
4. with labels: how often 95 % intervals hold, and how wide they are, for labels where names differ and for all images.

Some eight minutes on a core, nearly all for fitting the learners; --quick fits two for one epoch, in half a minute.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from openworld import backbones, learners
from openworld.datasets import emoji
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.by_level import among
from openworld.estimators.engine.temperature import probabilities, source_temperature
from openworld.evaluations.dynamic import scenarios
from openworld.evaluations.dynamic.evaluation import predict_views
from openworld.evaluations.views import ImagePool, pool_of_two
from openworld.features import Encoding, encode
from openworld.labels import curve_stream, estimate_curve, plan_curve
from openworld.learners import Answer, Schedule, encoding_for
from openworld.metrics import Robustness, robustness

STYLES = ("emojione", "noto-v1", "fluent-emoji-high-contrast")
NUMBERS = {"AUC": "auc", "WA": "worst_accuracy", "EVM": "variation", "VS": "slope_variance"}
ZERO_SHOT = "zero-shot"
FEW = 20  # source images of a level's names, with fewer of which its own threshold is not to be had


@dataclass(frozen=True, eq=False)
class Course:
    """One learner in one course. source: logits among all names; views: logits by level, -inf for absent names."""

    scenario: str
    name: str
    learner: str
    levels: np.ndarray
    source: Outputs
    home: np.ndarray
    views: tuple[np.ndarray, ...]
    labels: tuple[np.ndarray, ...]
    images: tuple[np.ndarray, ...]

    @property
    def true(self) -> np.ndarray:
        """float64[T], the accuracy at every level."""
        pairs = zip(self.views, self.labels, strict=True)
        return np.array([(view.argmax(axis=1) == labels).mean() for view, labels in pairs])

    @property
    def at_home(self) -> float:
        """The source's accuracy among the names of level 0."""
        return float((among(self.source.logits, self.home).argmax(axis=1) == self.source.labels).mean())


def fitted_learners(quick: bool) -> dict:
    schedule = Schedule(epochs=1 if quick else 10)
    chosen = {
        ZERO_SHOT: learners.find_learner(ZERO_SHOT)(),
        "CoOp": learners.CoOp(context_length=4, schedule=schedule),
        "KgCoOp": learners.KgCoOp(words="an icon of a", schedule=schedule),
        "GMoP": learners.GMoP(schedule=schedule),
    }
    return {name: chosen[name] for name in list(chosen)[: 2 if quick else None]}


def courses(seeds: list[int], quick: bool) -> Iterator[Course]:
    clip = backbones.load("embedded")

    def features(task, style, part, learner=None, **options):
        images = emoji.load(task, style, part, **options)
        wanted = Encoding(views=2 if learner is not None and learner.consumes == "views" else 0)
        return encode(clip, images, encoding_for(learner, wanted)) if learner is not None else encode(clip, images)

    for seed in seeds:
        for task in ("concepts",) if quick else ("concepts", "concepts-b"):
            known, test = features(task, "twemoji", "validation"), features(task, "twemoji", "test")
            order = scenarios.class_order(len(test.classnames), seed)
            base, new = np.split(order, 2)
            for name, learner in fitted_learners(quick).items():
                shots = features(task, "twemoji", "train", learner, shots=16, seed=seed)
                fitted = learner.fit(clip, shots.of_classes(base), seed=seed)
                runs = {
                    "emerging classes": scenarios.emerging_classes(test.labels, base, new),
                    "varying ratio": scenarios.varying_ratio(test.labels, base, new),
                }
                pool = ImagePool((test,), test.classnames)
                source = source_of(fitted, known, base, new)
                predicted = predict_views(fitted, pool, tuple(runs.values()))
                for (scenario, run), views in zip(runs.items(), predicted, strict=True):
                    yield course(scenario, f"{task} {seed}", name, source, run, list(views), pool)
                if task != "concepts":
                    continue
                fitted = learner.fit(clip, shots, seed=seed)
                source = source_of(fitted, known, order, order[:0])
                for style in STYLES[: 1 if quick else None]:
                    pool = pool_of_two(test, features(task, style, "test"), same_names=True)
                    run = scenarios.distribution_shift(pool.labels, pool.origin == 1, order, seed)
                    (views,) = predict_views(fitted, pool, (run,))
                    yield course("distribution shift", f"{style} {seed}", name, source, run, list(views), pool)


def source_of(fitted, known, base: np.ndarray, new: np.ndarray) -> Outputs:
    """The labelled source: validation images of base classes, logits among all names, columns by class number."""
    rows = np.flatnonzero(np.isin(known.labels, base))
    answer = ImagePool((known,), known.classnames).answer(fitted, rows, base, new)
    logits = answer.logits if len(new) or answer.base_logits is None else answer.base_logits
    return Outputs(among(wide(logits, np.concatenate([base, new]), len(known.classnames))), known.labels[rows])


def wide(logits: np.ndarray, classes: np.ndarray, count: int) -> np.ndarray:
    """Logits float64[n, count] with -inf for classes that are not there."""
    found = np.full((len(logits), count), -np.inf)
    found[:, classes] = logits
    return found


def course(scenario: str, name: str, learner: str, source: Outputs, run, answers: list[Answer], pool) -> Course:
    return Course(
        scenario=scenario,
        name=name,
        learner=learner,
        levels=np.array([view.level for view in run.views]),
        source=source,
        home=run.views[0].classes,
        views=tuple(
            wide(each.logits, view.classes, len(pool.names)) for view, each in zip(run.views, answers, strict=True)
        ),
        labels=tuple(pool.labels[view.images] for view in run.views),
        images=tuple(view.images for view in run.views),
    )


def fitted_on_all(name: str) -> Callable[[Course], np.ndarray]:
    """What `openworld estimate --levels` does: fitted once on all names; level 0 from labels."""

    def accuracies(given: Course) -> np.ndarray:
        fitted = find_estimator(name)().fit(given.source)
        behind = [fitted.estimate(Outputs(among(view)), interval=False).accuracy for view in given.views[1:]]
        return np.array([given.at_home, *behind])

    return accuracies


def threshold_among(home: bool) -> Callable[[Course], np.ndarray]:
    """ATC-MC with T and threshold among the names of level 0, or of each level where it has source images."""

    def accuracies(given: Course) -> np.ndarray:
        found = [given.at_home]
        for view in given.views[1:]:
            names = given.home if home else np.flatnonzero(~np.isneginf(view[0]))
            rows = np.flatnonzero(np.isin(given.source.labels, names))
            known = given.source
            if len(rows) >= FEW:
                known = Outputs(among(known.logits[rows], names), known.labels[rows])
            found.append(find_estimator("ATC-MC")().fit(known).estimate(Outputs(among(view)), interval=False).accuracy)
        return np.array(found)

    return accuracies


WAYS = {name: fitted_on_all(name) for name in ("ATC-MC", "AC", "ATC-NE", "DoC")} | {
    "ATC-MC, names of level 0": threshold_among(home=True),
    "ATC-MC, names of each level": threshold_among(home=False),
}


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    print(f"\n{title}")
    for first, *others in (head, *rows):
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *cells]))


def off(errors) -> str:
    errors = 100 * np.concatenate([np.ravel(each) for each in errors])
    return f"{errors.mean():+.1f} ({np.abs(errors).mean():.1f})"


def errors_of(given: list[Course], found: dict) -> list[str]:
    """Bias (mean |error|) of points and numbers over courses."""
    cells = [off([found[id(one)][1:] - one.true[1:] for one in given])]
    for number in NUMBERS.values():
        pairs = [(robustness(one.levels, found[id(one)]), robustness(one.levels, one.true)) for one in given]
        cells.append(off([[getattr(ours, number) - getattr(truth, number)] for ours, truth in pairs]))
    return cells


def without_labels(given: list[Course]) -> dict[str, dict[int, np.ndarray]]:
    found = {way: {id(one): estimate(one) for one in given} for way, estimate in WAYS.items()}
    head = ["estimator", "levels > 0", *NUMBERS]
    table(
        f"Bias (mean |error|), points (VS 10^-2), {len(given)} curves",
        head,
        [[way, *errors_of(given, own)] for way, own in found.items()],
    )
    for kind in ("learner", "scenario"):
        rows = []
        for name in dict.fromkeys(getattr(one, kind) for one in given):
            chosen = [one for one in given if getattr(one, kind) == name]
            for way in ("ATC-MC", "AC"):
                rows.append([f"{name}, {way}", *errors_of(chosen, found[way])])
        table(f"The same by {kind}", [kind, *head[1:]], rows)
    return found


def as_reference(tuned: Course, zero: Course) -> tuple[Robustness, Robustness]:
    """Both curves where zero-shot's probabilities are taken for the truth."""
    temperature = source_temperature(among(zero.source.logits), zero.source.labels).value
    curves = defaultdict(list)
    for ours, theirs in zip(tuned.views, zero.views, strict=True):
        share = probabilities(among(theirs), temperature)
        for name, view in (("tuned", ours), ("zero", theirs)):
            curves[name].append(share[np.arange(len(share)), view.argmax(axis=1)].mean())
    return tuple(robustness(tuned.levels, curves[name]) for name in ("tuned", "zero"))


def differences(given: list[Course], found: dict) -> None:
    zero = {(one.scenario, one.name): one for one in given if one.learner == ZERO_SHOT}
    tuned = [one for one in given if one.learner != ZERO_SHOT]
    pairs = [(one, zero[one.scenario, one.name]) for one in tuned]
    truth = np.array([robustness(a.levels, a.true).auc - robustness(b.levels, b.true).auc for a, b in pairs])
    rows = []
    for way in ("ATC-MC", "AC", "ATC-NE"):
        both = [[robustness(one.levels, found[way][id(one)]).auc for one in pair] for pair in pairs]
        rows.append(difference_row(way, np.array([a - b for a, b in both]), truth))
    curves = [as_reference(*pair) for pair in pairs]
    rows.append(difference_row("zero-shot as reference", np.array([a.auc - b.auc for a, b in curves]), truth))
    head = ["dAUC by", "bias (mean |error|)", "sign right", "negative", "truly negative"]
    table(f"The difference to zero-shot without labels, {len(pairs)} pairs of curves", head, rows)


def difference_row(way: str, said: np.ndarray, truth: np.ndarray) -> list[str]:
    n = len(truth)
    right, negative = int((np.sign(said) == np.sign(truth)).sum()), int((said < 0).sum())
    return [way, off([said - truth]), f"{right} of {n}", f"{negative} of {n}", f"{int((truth < 0).sum())} of {n}"]


def with_labels(given: list[Course], draws: int) -> None:
    """Coverage and width over draws of labels, one course of each scenario and learner."""
    zero = {(one.scenario, one.name): one for one in given if one.learner == ZERO_SHOT}
    rows, seen = [], set()
    for one in given:
        if one.learner == ZERO_SHOT or (one.scenario, one.learner) in seen:
            continue
        seen.add((one.scenario, one.learner))
        other = zero[one.scenario, one.name]
        level = np.repeat(one.levels, [len(view) for view in one.views])
        image, labels = np.concatenate(one.images), np.concatenate(one.labels)
        stream = curve_stream(level, np.concatenate(one.views), np.concatenate(other.views), image)
        true_class = np.empty(len(stream.images), np.int64)
        true_class[stream.image] = labels
        area = robustness(one.levels, one.true).auc
        truth = {"delta_auc": area - robustness(other.levels, other.true).auc, "auc": area}
        for of, n in (("delta_auc", 50), ("delta_auc", 100), ("auc", 100), ("auc", 200)):
            differ = len(np.unique(stream.image[stream.differs]))
            if of == "delta_auc" and n >= differ:
                continue
            ends = []
            for seed in range(draws):
                plan = plan_curve(stream, n, of=of, seed=seed)
                quality = estimate_curve(plan, true_class[plan.chosen])
                ends.append([getattr(quality, name).interval() or (np.nan, np.nan) for name in ("delta_auc", of)])
            ends = np.array(ends)
            held = ((ends[:, 1, 0] <= truth[of]) & (truth[of] <= ends[:, 1, 1])).mean()
            half = [np.nanmean(ends[:, at, 1] - ends[:, at, 0]) / 2 for at in (0, 1)]
            rows.append(
                [
                    f"{one.scenario}, {one.learner}",
                    of,
                    str(n),
                    f"{differ} of {len(stream.images)}",
                    f"{100 * truth[of]:.1f}",
                    f"{100 * held:.1f}",
                    f"{100 * half[1]:.1f}",
                    f"{100 * half[0]:.1f}",
                ]
            )
    head = ["course", "drawn for", "labels", "differ", "truth", "held, %", "half-width", "of dAUC"]
    table(f"With labels: {draws} draws each, 95 % intervals, points", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two learners, one epoch, three courses")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--draws", type=int, default=1000, help="draws of labels")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    given = list(courses(asked.seeds[:1] if asked.quick else asked.seeds, asked.quick))
    differences(given, without_labels(given))
    with_labels(given, 20 if asked.quick else asked.draws)


if __name__ == "__main__":
    main()
