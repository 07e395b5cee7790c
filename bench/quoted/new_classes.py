"""Streams with new classes of six kinds of data: texts, tables, sounds, photographs, digits and letters.

Half of the classes of a world, by chance, are base. The part `reference` of each world stands for what a backbone saw
before: features without labels, and a vector for each name, base and new, by logistic regression on `SHOTS` examples of
it. That is `zero-shot`. Three learners are tuned from it on training examples of base classes alone:

    names       the vectors of base names are fitted anew, those of new names stay (as prompts that are tuned)
    adapter     x + A relu(B x) before the vectors of all names, fitted until nothing is left to learn
    branches    base names by `names`, new names by zero-shot, all names by the mean of both; the score is the largest
                base logit of `adapter`

Beside the logits of zero-shot stands an independent reference, 15 nearest neighbours among all of that part.

    streams(kind, seed)    labelled base images at home, and streams at home, of shifted sets, and from such
"""

import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import classifiers
import digits
import fonts
import glyphs
import numpy as np
import photographs
import pool
import sounds
import tables
import texts
import torch
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from openworld.estimators.open_world import OpenWorldOutputs

SHOTS, SHIFTED, EASIER, LABELLED, IMAGES, LEAST = 12, 8, 4, 400, 500, 100
BASE_SHARES = (0.2, 0.5, 0.8)
HOME = "same--unseen"
LEARNERS = ("zero-shot", "names", "adapter", "branches")


def images(seed: int) -> dict[str, tuple[NDArray, NDArray]]:
    """Return the letters of `fonts`, drawn in the fonts of this machine."""
    world = fonts.WORLDS["letters"]
    found = glyphs.faces([Path("/usr/share/fonts")], string.ascii_letters)
    part = fonts.dealt(found, seed)
    sets = {name: (one.pixels, one.labels) for name, one in fonts.image_sets(world, found, seed).items()}
    for number, name in enumerate(("train", "reference")):
        plain = [face for face in found if face.family in part[name] and face.style == "plain"]
        drawn = fonts.by_chance(world, plain, 60, [seed, 40 + number])
        sets[name] = drawn.pixels, drawn.labels
    return sets


def flat(rows) -> NDArray:
    return np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)


def of_columns(columns: int | None, read: Callable = flat):
    """Return a recipe of features of numbers: standardised, and their main directions."""
    steps = [FunctionTransformer(read), StandardScaler()]
    return make_pipeline(*steps, *([] if columns is None else [PCA(columns, whiten=True, random_state=0)]))


def of_texts():
    """Return directions of groups of letters."""
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), max_features=20_000, sublinear_tf=True)
    return make_pipeline(vectors, TruncatedSVD(100, random_state=0), StandardScaler())


def of_patches(patches) -> NDArray:
    return np.hstack([photographs.slopes(patches), photographs.colours(patches)])


@dataclass(frozen=True)
class Kind:
    """Sets of a seed by name, and features that are learned without labels."""

    sets: Callable[[int], dict]
    features: Callable


BY_FORMANTS, LAW = sounds.by_formants, tables.TABLES["law-20"]
KINDS = {
    "texts": Kind(lambda seed: texts.image_sets(seed, texts.library(), texts.COUNTS, 600), of_texts),
    "tables": Kind(lambda seed: tables.image_sets(seed, LAW, 1_200, 600), partial(of_columns, None)),
    "sounds": Kind(lambda seed: sounds.image_sets(BY_FORMANTS, seed, sounds.COUNTS, 500), partial(of_columns, 60)),
    "photographs": Kind(
        lambda seed: photographs.image_sets(seed, photographs.photographs(), 600),
        partial(of_columns, None, of_patches),
    ),
    "digits": Kind(digits.image_sets, partial(of_columns, 40)),
    "letters": Kind(images, partial(of_columns, 80)),
}  # fmt: skip


def fitted_adapter(weights: NDArray, biases: NDArray, rows: NDArray, labels: NDArray, seed: int) -> Callable:
    """Return x -> x + A relu(B x), fitted so that the vectors of base names name the rows of base classes."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)
    w, b = (torch.tensor(one, dtype=torch.float32) for one in (weights, biases))
    width, hidden = x.shape[1], 64
    down = (torch.randn(width, hidden, generator=generator) / width**0.5).requires_grad_()
    up = torch.zeros(hidden, width, requires_grad=True)
    steps = torch.optim.Adam([down, up], lr=3e-3)
    for _ in range(300):
        steps.zero_grad()
        torch.nn.functional.cross_entropy((x + torch.relu(x @ down) @ up) @ w.T + b, y).backward()
        steps.step()
    first, second = down.detach().numpy().astype(np.float64), up.detach().numpy().astype(np.float64)
    return lambda other: other + np.maximum(other @ first, 0) @ second


def fitted(kind: Kind, seed: int) -> tuple[dict[str, Callable], dict[str, tuple[NDArray, NDArray]], int]:
    """Return learners and references by name: features -> logits; sets of features with labels; and how many are base.

    Classes are numbered anew: base ones first.
    """
    sets, draws = kind.sets(seed), np.random.default_rng([seed, 50])
    classes = 1 + max(labels.max() for _, labels in sets.values())
    place = np.argsort(draws.permutation(classes))
    base = classes // 2
    read = kind.features().fit(sets["reference"][0])
    sets = {name: (read.transform(inputs), place[labels]) for name, (inputs, labels) in sets.items()}
    rows, labels = sets.pop("reference")
    few = np.concatenate([np.flatnonzero(labels == one)[:SHOTS] for one in range(classes)])
    names = LogisticRegression(C=0.03, max_iter=500).fit(rows[few], labels[few])
    weights, biases = names.coef_, names.intercept_
    neighbours = KNeighborsClassifier(15, weights="distance").fit(rows, labels)
    rows, labels = sets.pop("train")
    rows, labels = rows[labels < base], labels[labels < base]
    tuned = LogisticRegression(C=0.3, max_iter=500).fit(rows, labels)
    adapt = fitted_adapter(weights[:base], biases[:base], rows, labels, seed)

    def zero_shot(x):
        return x @ weights.T + biases

    models = {
        "zero-shot": zero_shot,
        "names": lambda x: np.hstack([x @ tuned.coef_.T + tuned.intercept_, zero_shot(x)[:, base:]]),
        "adapter": lambda x: zero_shot(adapt(x)),
        "neighbours": classifiers.reader(neighbours),
    }
    return models, sets, base


def outputs(models: dict[str, Callable], learner: str, rows: NDArray, labels: NDArray, base: int) -> OpenWorldOutputs:
    """Return what a learner says, with zero-shot as reference."""
    zero_shot = models["zero-shot"](rows)
    about = {"labels": labels, "reference": zero_shot, "reference_kind": "zero-shot"}
    if learner != "branches":
        return OpenWorldOutputs(logits=models[learner](rows), n_base=base, **about)
    tuned, score = models["names"](rows), models["adapter"](rows)[:, :base].max(axis=1)
    both = (tuned + zero_shot) / 2
    return OpenWorldOutputs(score, tuned[:, :base], zero_shot[:, base:], both, **about)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A stream of a learner, and its labelled base images; `independent`: another reference of both, or None."""

    kind: str
    seed: int
    learner: str
    shift: str
    base_share: float
    source: OpenWorldOutputs
    stream: OpenWorldOutputs
    independent: tuple[NDArray, NDArray] | None = None

    def by_reference(self) -> Iterator[tuple[str, OpenWorldOutputs, OpenWorldOutputs]]:
        """Yield the kind of reference, the source and the stream: none, zero-shot, independent."""
        both = self.source, self.stream
        yield "none", *(replace(one, reference=None) for one in both)
        yield "zero-shot", *both
        pairs = zip(both, self.independent or (None, None), strict=True)
        if self.independent is None:
            return
        yield "independent", *(replace(one, reference=other, reference_kind="independent") for one, other in pairs)


def chosen_rows(labels: NDArray, base: int, base_share: float, draws: np.random.Generator) -> NDArray:
    """Return rows of a stream with this share of base images, at most `IMAGES`."""
    sides = [draws.permutation(np.flatnonzero(side)) for side in (labels < base, labels >= base)]
    count = int(min(IMAGES, len(sides[0]) / base_share, len(sides[1]) / (1 - base_share)))
    first = round(count * base_share)
    return np.concatenate([sides[0][:first], sides[1][: count - first]])


def streams(kind: str, seed: int) -> Iterator[Drawn]:
    """Yield every stream of a kind and seed, of every share of base images and learner.

    Three draws at home, one of each shifted set, and of each set in `EASIER` families one at home whose labelled base
    images are those shifted ones (`easier--<set>`).
    """
    models, sets, base = fitted(KINDS[kind], seed)
    draws = np.random.default_rng([seed, 51])
    source, families = sets.pop("source"), {}
    for name in draws.permutation(sorted(set(sets) - {HOME})):
        families.setdefault(pool.family(name), name)
    shifts = list(families.values())[:SHIFTED]
    pairs = [(name, source, sets[name]) for name in [HOME] * 3 + shifts]
    pairs += [(f"easier--{name}", sets[name], source) for name in shifts[:EASIER]]
    for shift, (rows, labels), (inputs, truth) in pairs:
        known = draws.permutation(np.flatnonzero(labels < base))[:LABELLED]
        for share in BASE_SHARES:
            kept = chosen_rows(truth, base, share, draws)
            if min(len(known), len(kept)) < LEAST:
                continue
            for learner in LEARNERS:
                both = [
                    outputs(models, learner, of[here], names[here], base)
                    for of, names, here in ((rows, labels, known), (inputs, truth, kept))
                ]
                others = models["neighbours"](rows[known]), models["neighbours"](inputs[kept])
                yield Drawn(kind, seed, learner, shift, share, *both, others)
