"""What labels that arrive late are worth: coverage of their intervals, and which correction helps later periods.

    python bench/late_labels.py [--draws 400] [--repeats 20] [--sets emoji-concepts emoji-concepts-b]

Periods are those of `period_causes`: zero-shot CLIP of the embedded world, 300 images each. Coverage: of the 95 %
interval of a period's accuracy from n labels with calibrated confidences as proxies, by design (random, Poisson by
expected error), kind of period and n; a convenience sample (the surest images are labelled first) beside it. Later
periods: a stream of 30 healthy days and 30 days of one style or corruption, of which every third has 50 labels; each
later day is estimated with what was learned before it. Mean absolute error in points of DoC and ATC-MC as they are, and
corrected by an offset of logits, by a power of the share that is kept, and by another temperature. Two minutes.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from period_causes import World, looks
from scipy.optimize import brentq

from openworld import backbones, labels
from openworld.estimators import ESTIMATORS, Outputs
from openworld.estimators.engine.temperature import confidences, source_temperature
from openworld.estimators.quote.recalibration import accuracy_with, recalibrate

N, LABELLED, DAYS, EVERY = 300, 50, 30, 3
METHODS = ("DoC", "ATC-MC")
HEALTHY = "like the source"
SHIFTS = ("style twemoji", "style emojione", "style noto-v1", "gaussian_noise 4", "fog 2", "brightness 4",
          "painted: oil paint", "contrast 2")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scene:
    """A source, and sets from which periods are drawn."""

    source: Outputs
    sets: dict[str, Outputs]


def scene(world: World, changed: dict, seed: int) -> Scene:
    generator = np.random.default_rng(seed)
    tests, validation = world.images(), world.known(world.images(part="validation"))
    first, second = (
        world.known(tests.take(part)) for part in np.array_split(generator.permutation(len(tests.labels)), 2)
    )
    sets = {HEALTHY: second} | {name: world.known(changed[name]) for name in SHIFTS}
    return Scene(
        world.outputs(first.joined(validation)), {name: world.outputs(images) for name, images in sets.items()}
    )


def period(outputs: Outputs, generator: np.random.Generator) -> Outputs:
    return outputs.take(generator.choice(outputs.n, N, replace=outputs.n < N))


def number(period: Outputs, expected: np.ndarray, n: int, design: str, seed: int):
    """Return the labelled number of a period."""
    right = period.predictions == period.labels
    stream = labels.closed_set_stream(expected)
    if design == "convenience":
        chosen = np.argsort(-expected, kind="stable")[:n]
        plan = labels.plan_from_draw(stream, chosen, of="overall_accuracy")
    else:
        plan = labels.plan(stream, n, of="overall_accuracy", settings=labels.PlanSettings(design, seed=seed))
    return labels.estimate(plan, labels.right_answers(right[plan.chosen])).of("overall_accuracy")


def coverage(scene: Scene, draws: int) -> None:
    """Print the share of intervals that hold the accuracy of the period, and their half-widths."""
    temperature = source_temperature(scene.source.logits, scene.source.labels).value
    print("| period | labels | design | coverage, % | half-width, points | no number, % |\n|---|---|---|---|---|---|")
    for name in (HEALTHY, "style twemoji", "contrast 2"):
        for n in (30, 50, 100):
            for design in ("random", "poisson", "stratified", "convenience"):
                held, wide, none = [], [], 0
                for seed in range(draws if design != "convenience" else draws // 4):
                    own = period(scene.sets[name], np.random.default_rng([seed, 1]))
                    expected = confidences(own.logits, temperature)
                    found = number(own, expected, n, design, seed)
                    interval = found.interval()
                    if interval is None:
                        none += 1
                        continue
                    truth = 1 - own.mistakes / own.n
                    held.append(interval[0] - 1e-12 <= truth <= interval[1] + 1e-12)
                    wide.append((interval[1] - interval[0]) / 2)
                share = f"{100 * np.mean(held):.1f} | {100 * np.mean(wide):.1f}" if held else "– | –"
                print(f"| {name} | {n} | {design} | {share} | {100 * none / (len(held) + none):.0f} |", flush=True)
    print()


def days(
    scene: Scene, shift: str, seed: int
) -> Iterator[tuple[str, float, dict[str, float], np.ndarray, float, float]]:
    """Return kind, truth, what methods say, logits, and what labels say, day by day."""
    fitted = {name: ESTIMATORS[name]().fit(scene.source) for name in METHODS}
    temperature = source_temperature(scene.source.logits, scene.source.labels).value
    generator = np.random.default_rng([seed, 7])
    kinds = [HEALTHY] * DAYS + [shift] * DAYS
    order = generator.permutation(2 * DAYS) if seed % 2 else np.arange(2 * DAYS)
    for day, place in enumerate(order):
        own = period(scene.sets[kinds[place]], generator)
        said = {name: method.estimate(own, interval=False).accuracy for name, method in fitted.items()}
        found = None
        if day % EVERY == 0:
            found = number(own, confidences(own.logits, temperature), LABELLED, "poisson", day)
        known = found is not None and found.value is not None and found.standard_error
        yield (
            kinds[place],
            1 - own.mistakes / own.n,
            said,
            own.logits,
            *((found.value, found.standard_error) if known else (np.nan, np.nan)),
        )


def logit(share: float) -> float:
    share = min(max(share, 0.01), 0.99)
    return float(np.log(share / (1 - share)))


def temperature_for(known: list[tuple[np.ndarray, float]]) -> float:
    """Return the temperature at which mean confidences are what labels say, on average."""
    wanted = np.mean([labelled for _, labelled in known])

    def gap(log: float) -> float:
        return np.mean([confidences(rows, np.exp(log)).mean() for rows, _ in known]) - wanted

    return float(np.exp(brentq(gap, -4, 4))) if gap(-4) * gap(4) < 0 else 1.0


def errors(scene: Scene, shift: str, seed: int, found: dict) -> None:
    """Add the errors of later days under every correction."""
    source, past = 1 - scene.source.mistakes / scene.source.n, []
    for kind, truth, said, logits, labelled, error in days(scene, shift, seed):
        if past and np.isnan(labelled):
            for name in METHODS:
                estimates, shares, spread = ([entry[key] for entry in past] for key in (name, "labelled", "error"))
                offset = np.mean([logit(share) - logit(est) for est, share in zip(estimates, shares, strict=True)])
                power = recalibrate(source, estimates, shares, spread)
                answers = {
                    "as it is": said[name],
                    "offset": 1 / (1 + np.exp(-logit(said[name]) - offset)),
                    "power": accuracy_with(power, said[name], source),
                    "mean of labels": float(np.mean(shares)),
                }
                if name == "DoC":
                    hot = temperature_for([(entry["logits"], entry["labelled"]) for entry in past[-6:]])
                    answers["temperature"] = float(confidences(logits, hot).mean())
                for correction, answer in answers.items():
                    key = name, "healthy" if kind == HEALTHY else "shifted", correction
                    found.setdefault(key, []).append(answer - truth)
        if not np.isnan(labelled):
            past.append({**said, "labelled": labelled, "error": error, "logits": logits})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sets", nargs="+", default=["emoji-concepts", "emoji-concepts-b"])
    arguments.add_argument("--draws", type=int, default=400)
    arguments.add_argument("--repeats", type=int, default=4)
    arguments.add_argument("--no-coverage", action="store_true")
    given = arguments.parse_args()
    clip = backbones.load("embedded")
    for place, name in enumerate(given.sets):
        world = World(clip, name, slice(0, 50))
        changed = looks(world, False)
        if place == 0 and not given.no_coverage:
            coverage(scene(world, changed, 0), given.draws)
        found: dict = {}
        for seed in range(given.repeats):
            for shift in SHIFTS:
                errors(scene(world, changed, seed), shift, seed, found)
        print(f"{name}: later days, mean |error| (bias), points\n")
        print("| method | day | correction | error |\n|---|---|---|---|")
        for (method, kind, correction), off in sorted(found.items()):
            print(f"| {method} | {kind} | {correction} | {100 * np.abs(off).mean():.1f} ({100 * np.mean(off):+.1f}) |")
        print(flush=True)


if __name__ == "__main__":
    main()
