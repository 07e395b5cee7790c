"""What labelled shifts are worth: estimator and correction learned on some families of shifts, and asked of another.

For every judged model of the pool, each family of shifts is the target once; four of the others, drawn at random, are
the labelled shifts of somebody who has some. Beside it, what is said without them: COTT and ATC-MC as they are.
`corruptions` is the same with noise, blur, weather and digital alone as labelled shifts and every other family as the
target: what one can do with images and a model alone. Targets are drawn image by image (classes come as they come),
and once more as they lie in the pool, many of them exactly balanced: transport then looks better than it is.

    python bench/quoted/labelled.py --pool POOL [--seeds 1,2]        some five minutes

Columns: mean absolute error of what was learned, told or not, of COTT and of ATC-MC; share that is told, of all sets
and of those that lost less than 10 points; the same errors where it is told; share that is then off by more than 10
points; share of intervals that hold, and of bounds where no number is told.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pool

from openworld.estimators import ESTIMATORS, Outputs, check_reference, measure_null
from openworld.estimators.quote.decision import Quote
from openworld.estimators.quote.learned_shifts import LabelledShift, learn, read_shifts

ALONE = ("DoC", "ATC-MC", "COT", "COTT")
CORRUPTIONS = ("noise", "blur", "weather", "digital")
HEADS = ["n", "learned", "COTT", "ATC-MC", "told", "mild", "learned", "COTT", "ATC-MC", "far", "holds", "bounds"]
IMAGES, LABELLED, REPEATS, MILD = 500, 4, 2, 0.1


class Answer(NamedTuple):
    """To one set, by one choice of labelled families.

    column: reference or none, how the target is drawn, which families are labelled. accuracy: the true one; learned:
    the number, told or not. today: COTT and ATC-MC.
    """

    column: tuple[str, str, str]
    world: str
    mild: bool
    accuracy: float
    learned: float
    quote: Quote
    today: dict[str, float]


def answers(folder: Path) -> Iterator[Answer]:
    """All answers to all shifted sets of a model."""
    sets = {
        name: Outputs(arrays["logits"], arrays["labels"], arrays["reference"])
        for name, arrays in pool.sets(folder).items()
    }
    source, _ = sets.pop("source"), sets.pop("same--unseen")
    views = not check_reference(source).warnings
    asked = {name: ESTIMATORS[name]() for name in (*ALONE, *["two-views"] * views)}
    nulls = measure_null(asked, source, IMAGES)
    shifts = [LabelledShift(name, pool.family(name), one) for name, one in sets.items()]
    readings = read_shifts(asked, source, shifts, nulls)
    alone = [replace(one, relative={name: one.relative[name] for name in ALONE}) for one in readings]
    fitted = {name: one.fit(source) for name, one in asked.items()}
    generator = np.random.default_rng(0)
    found = {}  # set -> how it is drawn -> (outputs, estimates)
    for one in shifts:
        drawn = one.outputs.take(generator.integers(0, one.outputs.n, IMAGES))
        found[one.name] = {
            how: (target, {name: fit.estimate(target, interval=False) for name, fit in fitted.items()})
            for how, target in (("drawn", drawn), ("as it lies", one.outputs))
        }
    for family, kind, others in choices(sorted({one.family for one in shifts}), generator):
        for reference, table in (("no reference", alone), ("reference", readings)):
            some = [replace(one, artificial=kind == "corruptions") for one in table if one.family in others]
            learned = learn(accuracy(source), some, nulls)
            for one in (one for one in shifts if one.family == family):
                for how, (target, estimates) in found[one.name].items():
                    yield answer((reference, how, kind), folder.parent.name, source, target, (estimates, learned))


def choices(families: list[str], generator: np.random.Generator) -> Iterator[tuple[str, str, list[str]]]:
    """Each family as the target, with the families that are labelled, and how these were chosen."""
    for family in families:
        others = [one for one in families if one != family]
        for _ in range(REPEATS if len(others) >= LABELLED else 0):
            yield family, "four families", list(generator.choice(others, LABELLED, replace=False))
        if family not in CORRUPTIONS and set(CORRUPTIONS) <= set(families):
            yield family, "corruptions", list(CORRUPTIONS)


def answer(column, world: str, source: Outputs, target: Outputs, asked) -> Answer:
    """What is said of a target, beside the truth."""
    estimates, learned = asked
    relative = estimates[learned.estimator].accuracy / learned.means[learned.estimator]
    number = learned.source * min(1.0, relative) ** learned.power
    today = {name: estimates[name].accuracy for name in ("COTT", "ATC-MC")}
    mild = accuracy(source) - accuracy(target) < MILD
    return Answer(column, world, mild, accuracy(target), number, learned.quote(estimates), today)


def accuracy(one: Outputs) -> float:
    """The true one."""
    return 1 - one.mistakes / one.n


def row(found: list[Answer]) -> list[float]:
    """The numbers of a line of the table."""
    true = np.array([one.accuracy for one in found])
    told, mild = np.array([[one.quote.accuracy is not None, one.mild] for one in found]).T
    off = {"learned": np.abs([one.learned for one in found] - true)}
    off |= {name: np.abs([one.today[name] for one in found] - true) for name in ("COTT", "ATC-MC")}
    held = np.array([one.quote.low <= one.accuracy <= one.quote.high for one in found])
    parts = [[one.mean() for one in off.values()], [told.mean(), told[mild].mean()]]
    parts += [[one[told].mean() for one in off.values()], [(off["learned"][told] > 0.1).mean()]]
    parts += [[held[told].mean(), held[~told].mean()]]
    return [len(found), *(100 * number for part in parts for number in part)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--seeds", default="1,2")
    options = parser.parse_args(arguments)
    found: list[Answer] = []
    for folder in sorted(options.pool.glob("*/*")):
        if folder.name.split("-")[-1] in options.seeds.split(","):
            found += answers(folder)
            print(f"{folder.parent.name}/{folder.name}: {len(found)} answers", flush=True)
    heads = (
        "n",
        "learned",
        "COTT",
        "ATC-MC",
        "told %",
        "mild %",
        "learned",
        "COTT",
        "ATC-MC",
        "far %",
        "holds",
        "bounds",
    )
    print(f"{'':40s}" + "".join(f"{head:>8s}" for head in heads))
    for column in sorted({one.column for one in found}):
        own = [one for one in found if one.column == column]
        for world in ("all worlds", *sorted({one.world for one in own})):
            some = [one for one in own if world in ("all worlds", one.world)]
            title = ", ".join(column) if world == "all worlds" else f"  {world}"
            print(f"{title:40s}" + "".join(f"{number:8.1f}" for number in row(some)))


if __name__ == "__main__":
    main()
