"""How far estimates of open-world quality without labels are off, part by part, and whether the alarm fires.

    python bench/open_world_streams.py
    python bench/open_world_without_labels.py [--streams FOLDER] [--chosen concepts] [--parts PART ...]

    home      test images in twemoji style, a third, a half and more of them new; errors of each number, in points
    styles    the same in the other styles, where the premises are broken
    alarm     the largest gap of the two shares of new images at home, and how often gaps above it are seen
    few       positive-unlabelled and the alarm with fewer images
    unequal   the same where new classes are the harder or the easier half of them for the reference

Settings (which estimator is the default, the gap) are chosen on one set, --chosen, and judged on the others; only the
limit of the confidence's move was chosen after a look at zero-shot on all three, so that its alarms judge nothing. The
reference is the zero-shot model, as it is for a learner that was tuned from it. None of it carries over to other kinds
of data (`bench/quoted/open_world.py`): `openworld estimate` tells no estimate. Two minutes on one core.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import open_world_streams as kept

from openworld.estimators.open_world import (
    LARGEST_GAP,
    LARGEST_MOVE,
    Hybrid,
    Mixture,
    OpenWorldOutputs,
    OwnNames,
    PositiveUnlabelled,
    ThirdModel,
    Thresholded,
    true_numbers,
    two_shares,
)

SHARES = (0.3, 0.5, 0.7)
DRAWS = (1, 2, 3)
NUMBERS = {
    "openworld_auc": "theta", "base_accuracy": "base", "new_accuracy": "new", "auroc": "AUROC", "new_share": "share",
    "overall_accuracy": "overall",
}  # fmt: skip
BLACK_AND_WHITE = ("emojione-monotone", "fluent-emoji-high-contrast")
ESTIMATORS = {
    "own": OwnNames(),
    "thresholded": Thresholded(),
    "mixture": Mixture(),
    "hybrid, calibrated": Hybrid(names="calibrated"),
    "hybrid": Hybrid(),
    "reference (zero-shot)": ThirdModel(),
    "PU, no reference": PositiveUnlabelled(share="best-bin", names="thresholded"),
    "PU, best-bin share": PositiveUnlabelled(share="best-bin"),
    "positive-unlabelled": PositiveUnlabelled(),
}
WITH_REFERENCE = ("reference (zero-shot)", "PU, best-bin share", "positive-unlabelled")


@dataclass(frozen=True, eq=False)
class Learner:
    """Validation images and all test images by style, with the zero-shot model as reference."""

    task: str
    name: str
    seed: int
    validation: OpenWorldOutputs
    styles: dict[str, OpenWorldOutputs]

    def drawn(self, style: str, share: float, draw: int) -> OpenWorldOutputs:
        """A stream with this share of new images: as many images as there are for it."""
        generator = np.random.default_rng([self.seed, draw, round(100 * share)])
        outputs = self.styles[style]
        sides = outputs.labels < outputs.n_base, outputs.labels >= outputs.n_base
        base, new = (generator.permutation(np.flatnonzero(side)) for side in sides)
        n = int(min(len(base) / (1 - share), len(new) / share))
        n_new = round(n * share)
        return outputs.rows(np.concatenate([base[: n - n_new], new[:n_new]]))


def outputs_of(stream: kept.Stream, reference: kept.Stream) -> OpenWorldOutputs:
    arrays, given = stream.arrays, ("base_logits", "new_logits", "logits")
    return OpenWorldOutputs(
        arrays["score"],
        **{name: arrays[name] for name in given},
        labels=arrays["label"],
        reference=reference.arrays["logits"],
        reference_kind="zero-shot",
    )


def learners(folder: Path, tasks: tuple[str, ...]) -> Iterator[Learner]:
    for task in tasks:
        ((zero_validation, zero_styles),) = kept.streams(folder, tasks=(task,), learners=("zero-shot",))
        for validation, styles in kept.streams(folder, tasks=(task,)):
            found = {style: outputs_of(one, zero_styles[style]) for style, one in styles.items()}
            home = outputs_of(validation, zero_validation)
            yield Learner(task, validation.learner, validation.seed, home, found)


def fitted(learner: Learner) -> dict:
    """Estimators fitted at home; the zero-shot reference stands in for a third model, to show what comes of it."""
    third = replace(learner.validation, reference_kind="independent")
    return {
        name: one.fit(third if isinstance(one, ThirdModel) else learner.validation) for name, one in ESTIMATORS.items()
    }


def draws_of(learner: Learner) -> tuple[int, ...]:
    """Zero-shot was not trained thrice, so it is drawn thrice."""
    return DRAWS if learner.name == "zero-shot" else (1,)


def errors(learner: Learner, styles: tuple[str, ...]) -> Iterator[tuple[str, str, float, np.ndarray]]:
    """(estimator, style, share, errors in points of NUMBERS); NaN where nothing is given."""
    models = fitted(learner)
    for style in styles:
        for share in SHARES:
            for draw in draws_of(learner):
                stream = learner.drawn(style, share, draw)
                truth = true_numbers(stream)
                for name, model in models.items():
                    found = model.estimate(stream)
                    given = [getattr(found, number) for number in NUMBERS]
                    off = [
                        np.nan if value is None else 100 * (value - truth[number])
                        for number, value in zip(NUMBERS, given, strict=True)
                    ]
                    yield name, style, share, np.array(off)


def mean(rows) -> np.ndarray:
    """Over those that are numbers."""
    table = np.array(rows)
    filled = np.where(np.isnan(table), 0, table).sum(axis=0)
    counts = (~np.isnan(table)).sum(axis=0)
    return np.where(counts > 0, filled / np.maximum(counts, 1), np.nan)


def cells(row: np.ndarray, digits: int = 1) -> str:
    return " ".join(f"{'-':>7}" if np.isnan(value) else f"{value:7.{digits}f}" for value in row)


def report_home(everyone: list[Learner], chosen: str) -> None:
    found = defaultdict(list)
    for learner in everyone:
        for name, _, share, off in errors(learner, (kept.HOME,)):
            found[learner.task, name, learner.name, share].append(off)
    tasks = tuple(dict.fromkeys(learner.task for learner in everyone))
    head = " ".join(f"{title:>7}" for title in NUMBERS.values())
    print(f"\n# Home: mean |error|, points\n{'':30}" + " | ".join(f"{task:^47}" for task in tasks))
    print(f"{'':30}" + " | ".join([head] * len(tasks)))
    for name in ESTIMATORS:
        whole = [
            mean(np.abs([off for key, rows in found.items() if key[:2] == (task, name) for off in rows]))
            for task in tasks
        ]
        given = {
            task: [off[0] for key, rows in found.items() if key[:2] == (task, name) for off in rows] for task in tasks
        }
        refused = ", ".join(f"{np.isnan(given[task]).sum()} of {len(given[task])}" for task in tasks)
        print(f"{name:30}" + " | ".join(map(cells, whole)) + f"   theta refused in {refused}")
    judged = [task for task in tasks if task != chosen]
    print(f"chosen on {chosen}, judged on {' and '.join(judged)}; the bar: theta 4, every part 6")
    print(f"\n# Home: every cell, mean error over seeds, points; shares of new {SHARES}")
    for name in ESTIMATORS:
        print(f"\n{name}\n{'':26}" + " | ".join(f"{f'{share} new':^47}" for share in SHARES))
        print(f"{'':26}" + " | ".join([head] * len(SHARES)))
        for task in tasks:
            for learner in kept.LEARNERS:
                rows = [found[task, name, learner, share] for share in SHARES]
                if all(rows):
                    print(f"{task:13}{learner:13}" + " | ".join(cells(mean(row)) for row in rows))


def report_styles(everyone: list[Learner]) -> None:
    others = sorted(set(everyone[0].styles) - {kept.HOME})
    styles = tuple(sorted(others, key=lambda style: style in BLACK_AND_WHITE))
    found = defaultdict(list)
    for learner in everyone:
        for name, style, _, off in errors(learner, styles):
            found[name, style].append(off)
    print(f"\n# Other styles: mean |error| over sets, learners, shares, points\n{'':30}{'':28}", end="")
    print(" ".join(f"{title:>7}" for title in NUMBERS.values()))
    for name in ESTIMATORS:
        for style in styles:
            print(f"{name:30}{style:28}" + cells(mean(np.abs(found[name, style]))))


def report_alarm(everyone: list[Learner], chosen: str) -> None:
    seen = defaultdict(list)
    for learner in everyone:
        for style in learner.styles:
            for share in SHARES:
                for draw in draws_of(learner):
                    stream = learner.drawn(style, share, draw)
                    found = two_shares(learner.validation, stream)
                    without = [replace(one, reference=None) for one in (learner.validation, stream)]
                    alone = two_shares(*without)
                    of = seen[learner.task, learner.name, style]
                    of.append([found.gap, found.confidence_moved, alone.gap, *alarms(found), alone.alarm])
    tasks = tuple(dict.fromkeys(key[0] for key in seen))
    home = np.concatenate([seen[key] for key in seen if key[0] == chosen and key[2] == kept.HOME])
    print(f"\n# Alarm: at home on {chosen}, points: largest gap of the shares {100 * home[:, 0].max():.1f}, ", end="")
    print(f"largest move of the confidence {100 * np.abs(home[:, 1]).max():.1f}", end="; ")
    print(f"limits {100 * LARGEST_GAP:.0f} and {100 * LARGEST_MOVE:.0f}")
    print(
        "mean gap, mean move (points) and alarms (%): by shares, by confidence, by either; without a reference: ",
        end="",
    )
    print("mean gap, alarms")
    for title, styles in {style: (style,) for style in everyone[0].styles}.items():
        for name in kept.LEARNERS:
            rows = [seen[task, name, style] for task in tasks for style in styles]
            row = 100 * np.concatenate([part for part in rows if part]).mean(axis=0)
            print(f"{title:28}{name:11}" + cells(row[[0, 1, 3, 4, 5]]) + "   |" + cells(row[[2, 6]]))
    judged = [task for task in tasks if task != chosen]
    colours = tuple(set(everyone[0].styles) - {kept.HOME, *BLACK_AND_WHITE})
    kinds = {"home (false)": (kept.HOME,), "black and white": BLACK_AND_WHITE, "other colours": colours}
    for title, styles in kinds.items():
        rows = [row for key in seen if key[0] in judged and key[2] in styles for row in seen[key]]
        if rows:
            counts = np.sum(rows, axis=0)[[3, 4, 5, 6]].astype(int)
            text = ", ".join(f"{what} {count}" for what, count in zip(KINDS_OF_ALARM, counts, strict=True))
            print(f"judged on {' and '.join(judged)}, {title}: of {len(rows)} streams {text}")


KINDS_OF_ALARM = ("by shares", "by confidence", "by either", "without a reference")


def alarms(found) -> tuple[bool, bool, bool]:
    """By shares, by confidence, by either."""
    return "shares" in found.signs, "confidence" in found.signs, found.alarm


def judged_here(learner: Learner, validation: OpenWorldOutputs, stream: OpenWorldOutputs) -> tuple[np.ndarray, bool]:
    """Errors of positive-unlabelled, in points, and whether the alarm fires."""
    found, truth = PositiveUnlabelled().fit(validation).estimate(stream), true_numbers(stream)
    values = [getattr(found, number) for number in NUMBERS]
    off = [
        np.nan if value is None else 100 * (value - truth[number])
        for number, value in zip(NUMBERS, values, strict=True)
    ]
    return np.array(off), two_shares(validation, stream).alarm


def report_few(everyone: list[Learner]) -> None:
    print(f"\n# Home with fewer images: positive-unlabelled, mean |error|, points; false alarms\n{'':40}", end="")
    print(" ".join(f"{title:>7}" for title in NUMBERS.values()))
    for labelled in (50, 100, 200):
        for images in (100, 300):
            rows = []
            for learner in everyone:
                for draw in DRAWS:
                    generator = np.random.default_rng(draw)
                    validation = learner.validation.rows(generator.permutation(learner.validation.n)[:labelled])
                    for share in SHARES:
                        stream = learner.drawn(kept.HOME, share, draw)
                        chosen = generator.permutation(stream.n)[:images]
                        rows.append(judged_here(learner, validation, stream.rows(chosen)))
            text = f"{labelled} labelled base images, stream of {images}"
            print(f"{text:40}" + cells(mean([np.abs(off) for off, _ in rows])), end="")
            print(f"   alarm {100 * np.mean([fired for _, fired in rows]):.1f} %")


def report_unequal(everyone: list[Learner]) -> None:
    print("\n# Home, half new, new images of half of the new classes: positive-unlabelled, mean error")
    print(f"{'':24}" + " ".join(f"{title:>7}" for title in NUMBERS.values()))
    for title in ("harder", "easier"):
        found = defaultdict(list)
        for learner in everyone:
            stream = of_half(learner.styles[kept.HOME], title == "harder")
            found[learner.name].append(judged_here(learner, learner.validation, stream))
        for name, rows in found.items():
            fired = sum(alarm for _, alarm in rows)
            print(f"{title:12}{name:12}" + cells(mean([off for off, _ in rows])) + f"   alarm {fired} of {len(rows)}")


def of_half(outputs: OpenWorldOutputs, harder: bool) -> OpenWorldOutputs:
    """As many base images as there are of those new classes which the reference names wrong more, or less, often."""
    n_base = outputs.n_base
    right = outputs.reference[:, n_base:].argmax(axis=1) + n_base == outputs.labels
    classes = np.arange(n_base, outputs.logits.shape[1])
    order = classes[np.argsort([right[outputs.labels == one].mean() for one in classes])]
    half = order[: len(order) // 2] if harder else order[len(order) // 2 :]
    new = np.flatnonzero(np.isin(outputs.labels, half))
    base = np.random.default_rng(0).permutation(np.flatnonzero(outputs.labels < n_base))[: len(new)]
    return outputs.rows(np.concatenate([base, new]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=Path, default=kept.FOLDER, help="folder of the streams")
    parser.add_argument("--task", nargs="+", choices=kept.TASKS, default=kept.TASKS)
    parser.add_argument("--chosen", choices=kept.TASKS, default="concepts", help="the set that chose the settings")
    parts = ("home", "styles", "alarm", "few", "unequal")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    given = parser.parse_args()
    everyone = list(learners(given.streams, tuple(given.task)))
    reports = {
        "home": lambda: report_home(everyone, given.chosen),
        "styles": lambda: report_styles(everyone),
        "alarm": lambda: report_alarm(everyone, given.chosen),
        "few": lambda: report_few(everyone),
        "unequal": lambda: report_unequal(everyone),
    }
    for part in given.parts:
        reports[part]()


if __name__ == "__main__":
    main()
