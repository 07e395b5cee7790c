"""Four worlds of the pool that are tables: `cancer`, `wine`, and two made-up laws, `law-6` and `law-20`.

    cancer   2 classes, the 30 columns of scikit-learn's breast cancer; wine: 3 classes, four columns of its wine
    law-*    6 and 20 classes: a class is three clouds of 12 hidden numbers, of which 16 columns are bent mixtures; one
             name in twenty is wrong. The third cloud of each class is a sub-population: two rows in a hundred

A row of a real table is drawn between two of its class, so that there are enough; training, references and test share
no row. Shifted sets of six families: noise; columns scaled, set to their mean or drawn from elsewhere (missing);
sensors that drift; rows chosen by a column (covariate); columns swapped; and, of the laws, the sub-population.

    boosting, forest, bayes, neighbours, network   judged, three in each world; the network learns its table by heart
    reference        a support vector machine on rows of its own
    reference_weak   a linear model of one column

    python bench/quoted/tables.py --out POOL [--world law-6] [--seeds 0,1]
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import classifiers
import numpy as np
import pool
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

Rows = NDArray[np.float64]
Draw = Callable[[int, str, np.random.Generator], tuple[Rows, NDArray]]
"""(How many, of which part, a generator) -> rows and labels."""

PARTS = ("train", "reference", "test", "new")
SUBPOPULATION = 0.02
WRONG_NAMES = 0.05

RECIPES = {
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=40, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "bayes": lambda seed: GaussianNB(),
    "neighbours": lambda seed: make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    "network": lambda seed: make_pipeline(
        StandardScaler(), MLPClassifier((64, 32), alpha=0, max_iter=400, tol=0, random_state=seed)
    ),
}


@dataclass(frozen=True)
class Table:
    """How many classes and training rows, which models are judged, and the law for a seed."""

    classes: int
    training: int
    models: tuple[str, ...]
    law: Callable[[int, int], Draw]


def real(load: Callable, columns: list[int] | None, seed: int, classes: int) -> Draw:
    """Return the law of a table that scikit-learn carries: a row lies between two rows of a class of a part."""
    found, draws = load(), np.random.default_rng([seed, 7])
    rows, labels = found.data if columns is None else found.data[:, columns], found.target
    dealt = draws.integers(0, 3, len(labels))

    def draw(count: int, part: str, generator: np.random.Generator) -> tuple[Rows, NDArray]:
        held = np.flatnonzero(dealt == PARTS.index(part))
        first = generator.choice(held, count)
        second = np.array([generator.choice(held[labels[held] == labels[row]]) for row in first])
        share = generator.uniform(0, 0.5, (count, 1))
        return rows[first] * (1 - share) + rows[second] * share, labels[first]

    return draw


def clouds(seed: int, classes: int) -> Draw:
    """Return a made-up law; its part `new` holds sub-populations alone."""
    draws = np.random.default_rng([seed, 8, classes])
    centres = draws.normal(0, 1.3, (classes, 3, 12))
    spreads = draws.uniform(0.5, 1.3, (classes, 3, 12))
    mixture, bends = draws.normal(0, 0.5, (12, 16)), draws.integers(0, 3, 16)

    def draw(count: int, part: str, generator: np.random.Generator) -> tuple[Rows, NDArray]:
        labels = generator.integers(0, classes, count)
        rare = generator.random(count) < (1 if part == "new" else SUBPOPULATION)
        cloud = np.where(rare, 2, generator.integers(0, 2, count))
        hidden = centres[labels, cloud] + spreads[labels, cloud] * generator.normal(size=(count, 12))
        mixed = hidden @ mixture
        columns = np.select([bends == 1, bends == 2], [np.tanh(mixed), np.exp(mixed / 2)], mixed)
        wrong = generator.random(count) < WRONG_NAMES
        return columns, np.where(wrong, generator.integers(0, classes, count), labels)

    return draw


def noisy(rows: Rows, draws: np.random.Generator, *, deviations: float) -> Rows:
    return rows + deviations * rows.std(axis=0) * draws.normal(size=rows.shape)


def scaled(rows: Rows, draws: np.random.Generator, *, share: float, factor: float) -> Rows:
    """Multiply a share of the columns, as if in another unit."""
    return np.where(draws.random(rows.shape[1]) < share, rows * factor, rows)


def missing(rows: Rows, draws: np.random.Generator, *, share: float) -> Rows:
    """Set a share of the cells to the mean of their column."""
    return np.where(draws.random(rows.shape) < share, rows.mean(axis=0), rows)


def drifted(rows: Rows, draws: np.random.Generator, *, deviations: float) -> Rows:
    """Move every column to a side, more and more from the first row to the last."""
    sides = draws.choice([-1, 1], rows.shape[1]) * rows.std(axis=0)
    return rows + 2 * deviations * np.linspace(0, 1, len(rows))[:, None] * sides


def swapped(rows: Rows, draws: np.random.Generator, *, pairs: int) -> Rows:
    """Swap columns; of unlike units in real tables, as careless joins do."""
    order = np.arange(rows.shape[1])
    for first, second in draws.permutation(len(order))[: 2 * pairs].reshape(-1, 2):
        order[[first, second]] = order[[second, first]]
    return rows[:, order]


SHIFTS = (
    {f"noise--{d:g}-deviations": partial(noisy, deviations=d) for d in (0.3, 0.7, 1.5)}
    | {f"scaled--{f:g}": partial(scaled, share=0.3, factor=f) for f in (0.7, 1.5, 10)}
    | {f"missing--{s:g}": partial(missing, share=s) for s in (0.15, 0.4, 0.7)}
    | {f"drift--{d:g}-deviations": partial(drifted, deviations=d) for d in (0.3, 0.7, 1.5)}
    | {f"swapped--{n}-pairs": partial(swapped, pairs=n) for n in (1, 2)}
)


def image_sets(seed: int, table: Table, tested: int, shifted: int) -> dict[str, tuple[Rows, NDArray]]:
    """Return rows and labels: training, references, source, unshifted target and every shifted set."""
    draw, training, new = table.law(seed, table.classes), table.training, table.law is clouds
    draws = np.random.default_rng([seed, 1])
    sets = {"train": draw(training, "train", draws), "reference": draw(training, "reference", draws)}
    sets |= {name: draw(tested, "test", draws) for name in ("source", "same--unseen")}
    rows, labels = draw(shifted, "test", draws)
    for number, (name, shift) in enumerate(SHIFTS.items()):
        sets[name] = shift(rows, np.random.default_rng([seed, 2, number])), labels
    many, kinds = draw(10 * shifted, "test", draws)
    for number, column in enumerate(draws.permutation(rows.shape[1])[:3]):
        order = np.argsort(many[:, column] + many[:, column].std() * draws.normal(0, 0.3, len(many)))
        chosen = draws.permutation(order[-shifted:] if number % 2 else order[:shifted])
        sets[f"covariate--column-{number}"] = many[chosen], kinds[chosen]
    if new:
        others, names = sets["population--new"] = draw(shifted, "new", draws)
        half = np.arange(shifted) % 2 == 0
        sets["population--half-new"] = np.where(half[:, None], others, rows), np.where(half, names, labels)
    return sets


TABLES = {
    "cancer": Table(2, 150, ("forest", "bayes", "network"), partial(real, load_breast_cancer, None)),
    "wine": Table(3, 60, ("boosting", "neighbours", "bayes"), partial(real, load_wine, [1, 2, 4, 7])),
    "law-6": Table(6, 600, ("boosting", "bayes", "network"), clouds),
    "law-20": Table(20, 2_000, ("forest", "neighbours", "network"), clouds),
}


def build(name: str, seed: int, tested: int = 1_200, shifted: int = 600) -> pool.World:
    """Return the fitted world of a seed."""
    table = TABLES[name]
    sets = image_sets(seed, table, tested, shifted)
    (rows, labels), (known, kinds) = sets.pop("train"), sets.pop("reference")
    models = {name: classifiers.judged(RECIPES[name], rows, labels, seed) for name in table.models}
    reference = make_pipeline(StandardScaler(), SVC(C=3)).fit(known, kinds)
    weak = make_pipeline(StandardScaler(), LogisticRegression()).fit(middle(known), kinds)
    return pool.World(
        [f"class {number}" for number in range(table.classes)],
        sets,
        models,
        classifiers.reader(reference),
        classifiers.reader(weak, middle),
    )


def middle(rows: Rows) -> Rows:
    """Return the one column that the weak reference sees."""
    place = rows.shape[1] // 2 - 1
    return rows[:, place : place + 1]


def main(arguments: list[str] | None = None) -> None:
    pool.main(__doc__, {name: partial(build, name) for name in TABLES}, arguments)


if __name__ == "__main__":
    main()
