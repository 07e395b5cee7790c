"""A made-up stream of which the truth is known, and a person who answers from it."""

import csv
from dataclasses import dataclass

import numpy as np

from openworld.own_data.label.kept_plan import read_plan
from openworld.tables.files import scores_of

BASE, NEW = tuple(f"base {n}" for n in range(4)), tuple(f"new {n}" for n in range(4))


@dataclass(frozen=True)
class World:
    """Columns of a stream, and the true class of each image by its id."""

    columns: dict
    truth: dict

    def stream(self, name="mine.npz"):
        return scores_of(self.columns, name)


def made_up(count=400, seed=0, share=0.5, noise=1.2):
    """Images of base and new classes, whose scores and names are right now and then."""
    generator = np.random.default_rng([seed, 1])
    base = generator.random(count) < share
    true = generator.integers(0, 4, count)
    right = generator.random(count) < 0.75
    named = np.where(right, true, (true + 1) % 4)
    other = generator.integers(0, 4, count)
    as_base, as_new = np.where(base, named, other), np.where(base, other, named)
    score = base + noise * generator.normal(size=count)
    columns = {
        "id": np.array([f"i{row}" for row in range(count)]),
        "score": score,
        "base_name": np.array(BASE)[as_base],
        "new_name": np.array(NEW)[as_new],
        "base": 1 / (1 + np.exp(-2 * (score - 0.5))),
    }
    names = [BASE[place] if own else NEW[place] for place, own in zip(true, base, strict=True)]
    return World(columns, dict(zip(columns["id"].tolist(), names, strict=True)))


def another():
    """Another model on the same images, which is wrong more often."""
    first, second = made_up(), made_up(seed=5, noise=2.0)
    changed = np.random.default_rng(9).random(len(first.truth)) < 0.4
    names = {
        name: np.where(changed, second.columns[name], first.columns[name])
        for name in ("base_name", "new_name", "score")
    }
    return World(first.columns | names, first.truth)


def code_of(names, true):
    """The answer of somebody who knows the true class."""
    side = "base" if true in BASE else "new"
    options = [option for option in names.options() if option.side in (side, "")]
    return next((option.code for option in options if option.name == true), options[-1].code)


def answer(folder, truth, *, place=0, rows=None, unsure=(), name="answers.csv"):
    """Write the answers of a batch as the page downloads them; some rows alone, and some with "cannot tell"."""
    batch = read_plan(folder).batches[place]
    asked = list(zip(batch.ids, batch.names, strict=True))
    with (folder / name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["plan", "id", "answer", "label", "seconds"])
        for number in range(len(asked)) if rows is None else rows:
            own, names = asked[number]
            code = "cannot tell" if number in unsure else code_of(names, truth[own])
            writer.writerow([batch.mark, own, code, "", 1.5])
    return folder / name
