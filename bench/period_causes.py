"""How often `openworld.estimators.quote.causes` names the right cause of a period, on streams whose cause is known.

    python bench/period_causes.py [--sets emoji-concepts emoji-concepts-b] [--repeats 10] [--quick] [--limits]

Zero-shot CLIP of the embedded world names the first half of a set's classes; the source is of 450 labelled noto images
of these. Streams: other such images; classes in other shares; a share of images of the second half of the classes, of
many or of few of these; the same classes in other styles, corrupted, or painted over; and, of emoji-subgroups, other
concepts of the same classes. Limits were chosen on emoji-concepts and the first half of the subgroups (--limits prints
what other limits would do there); the other sets only judge them. A table of causes by what is said, from logits alone
and with features, in percent of periods; about two processor minutes.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from openworld import backbones, datasets
from openworld.datasets.corruptions import corrupted
from openworld.datasets.styles import styled
from openworld.estimators import Outputs
from openworld.estimators.quote.causes import (
    APPEARANCE,
    CAUSES,
    MEANING,
    NEW,
    NONE,
    SHARES,
    CauseLimits,
    CauseSigns,
    decide_cause,
    fit_causes,
)
from openworld.features import encode

HOME = "noto"
STYLES = ("noto-v1", "twemoji", "emojione", "fluent-emoji-flat", "fluent-emoji", "fluent-emoji-high-contrast",
          "emojione-monotone")  # fmt: skip
CORRUPTIONS = ("gaussian_noise", "fog", "defocus_blur", "contrast", "pixelate", "brightness")
PAINTED = ("sketch", "oil paint", "recolour", "neon")
SIZES = (100, 300)
SWEPT = {
    "shares": (0.08, 0.1, 0.12),
    "within": (1.0, 1.1, 1.15, 1.2),
    "coherence": (2.6, 3.0, 3.4),
    "apart": (1.3, 1.6, 2.0),
    "unlike": (0.05, 0.08, 0.12),
    "mostly": (0.65, 0.75, 0.8),
}
SUBGROUPS = "emoji-subgroups"


@dataclass(frozen=True, eq=False)
class Images:
    """Features of length 1, labels, and of which drawing each image is."""

    features: np.ndarray
    labels: np.ndarray
    drawings: np.ndarray

    def take(self, rows) -> "Images":
        return Images(self.features[rows], self.labels[rows], self.drawings[rows])

    def joined(self, other: "Images") -> "Images":
        return Images(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in self.__annotations__))


@dataclass(frozen=True)
class Period:
    """Signs of a period whose cause is known. loss: fall of the true accuracy, None where classes are new."""

    set: str
    truth: str
    stream: str
    n: int
    view: str
    signs: CauseSigns
    loss: float | None


class World:
    """A set of classes, its images, and zero-shot logits for some of the classes."""

    def __init__(self, clip, name: str, classes: slice):
        self.clip, self.name = clip, name
        names = datasets.load(name, domain=HOME).classnames
        self.chosen = np.arange(len(names))[classes]
        text = np.asarray(clip.encode_text([f"an icon of a {names[label]}" for label in self.chosen]))
        self.text = float(clip.logit_scale) * text / np.linalg.norm(text, axis=1, keepdims=True)

    def images(self, style: str = HOME, part: str = "test", change=None) -> Images:
        images = datasets.load(self.name, domain=style, part=part)
        if part == "train":  # sixty-four variations of a drawing: four of each do
            images = images.subset(range(0, len(images), 16))
        rows = np.asarray(encode(self.clip, images if change is None else change(images)).embeddings[:])
        return Images(rows / np.linalg.norm(rows, axis=1, keepdims=True), images.labels, images.groups)

    def known(self, images: Images) -> Images:
        return images.take(np.isin(images.labels, self.chosen))

    def outputs(self, images: Images) -> Outputs:
        labels = np.searchsorted(self.chosen, images.labels)
        inside = np.isin(images.labels, self.chosen).all()
        return Outputs(images.features @ self.text.T, labels if inside else None)


def drawn(images: Images, n: int, generator: np.random.Generator, weights=None) -> Images:
    weights = None if weights is None else weights / weights.sum()
    possible = len(images.labels) if weights is None else int((weights > 0).sum())
    return images.take(generator.choice(len(images.labels), n, replace=n > possible or weights is not None, p=weights))


def streams(world: World, home: Images, changed: dict[str, Images], generator) -> Iterator[tuple[str, str, object]]:
    """Return cause, name and a function of n that draws a period; of classes that are known but for new ones."""
    known, new = world.known(home), home.take(~np.isin(home.labels, world.chosen))
    for _ in range(4):
        yield NONE, "like the source", lambda n: drawn(known, n, generator)

    def shares(weights):
        return lambda n: drawn(known, n, generator, weights[np.searchsorted(world.chosen, known.labels)])

    count = len(world.chosen)
    yield SHARES, "shares from Dirichlet(1/2)", shares(generator.dirichlet(np.full(count, 0.5)))
    yield SHARES, "a third of the classes", shares((generator.permutation(count) < count / 3) * 1.0)
    yield SHARES, "ten classes ten times as often", shares(np.where(generator.permutation(count) < 10, 10.0, 1.0))
    kinds = np.unique(new.labels)
    for share in (0.15, 0.3, 0.5):
        for few in (len(kinds), 5):
            some = new.take(np.isin(new.labels, generator.permutation(kinds)[:few]))

            def mixed(n, share=share, some=some):
                fresh = round(share * n)
                return drawn(known, n - fresh, generator).joined(drawn(some, fresh, generator))

            yield NEW, f"{share:.0%} new, of {'many' if few > 5 else 'five'} classes", mixed
    for name, images in changed.items():
        yield APPEARANCE, name, lambda n, images=images: drawn(world.known(images), n, generator)


def looks(world: World, quick: bool) -> dict[str, Images]:
    """Return the home images in every other appearance."""
    changed = {f"style {style}": world.images(style) for style in STYLES}
    if not quick:
        for name in CORRUPTIONS:
            for severity in (2, 4):
                change = lambda images, name=name, severity=severity: corrupted(images, name, severity, seed=1)  # noqa: E731
                changed[f"{name} {severity}"] = world.images(change=change)
        for name in PAINTED:
            changed[f"painted: {name}"] = world.images(change=lambda images, name=name: styled(images, name, seed=1))
    return changed


def periods(clip, name: str, repeats: int, quick: bool) -> Iterator[Period]:
    """Return signs of all periods of a set."""
    count = len(datasets.load(name, domain=HOME).classnames)
    world = World(clip, name, slice(0, count // 2))
    tests, validation, changed = world.images(), world.known(world.images(part="validation")), looks(world, quick)
    for seed in range(repeats):
        generator = np.random.default_rng(seed)
        order = generator.permutation(len(tests.labels))
        source, other = (tests.take(part) for part in np.array_split(order, 2))
        source = world.known(source).joined(validation)
        yield from compared(world, source, streams(world, other, changed, generator), name)


def meanings(clip, half: slice, name: str, repeats: int) -> Iterator[Period]:
    """Return signs of periods of other concepts of the same classes."""
    world = World(clip, SUBGROUPS, half)
    tests = world.known(world.images()).joined(world.known(world.images(part="train")))
    for seed in range(repeats):
        generator = np.random.default_rng(seed)
        concepts = np.unique(tests.drawings)
        first = np.isin(tests.drawings, generator.permutation(concepts)[: len(concepts) // 2])
        order = generator.permutation(np.flatnonzero(first))
        source, like = (tests.take(rows) for rows in np.array_split(order, 2))
        other = tests.take(~first)

        def both(n, like=like, other=other, generator=generator):
            return drawn(like, n // 2, generator).joined(drawn(other, n - n // 2, generator))

        made = [
            (NONE, "like the source", lambda n, like=like, generator=generator: drawn(like, n, generator)),
            (MEANING, "other concepts", lambda n, other=other, generator=generator: drawn(other, n, generator)),
            (MEANING, "half other concepts", both),
        ]
        yield from compared(world, source, made, name)


def compared(world: World, source: Images, made, name: str) -> Iterator[Period]:
    outputs = world.outputs(source)
    readers = {"logits": fit_causes(outputs), "features": fit_causes(replace(outputs, features=source.features))}
    right = 1 - outputs.mistakes / outputs.n
    for truth, stream, draw in made:
        for n in SIZES:
            images = draw(n)
            period = world.outputs(images)
            loss = None if period.labels is None else right - 1 + period.mistakes / period.n
            for view, reader in readers.items():
                signs = reader.read(replace(period, features=images.features) if view == "features" else period).signs
                yield Period(name, truth, stream, n, view, signs, loss)


def table(found: list[Period], by: str, limits: CauseLimits) -> None:
    """Print what is said, in percent of the periods of each row."""
    rows: dict[str, Counter] = {}
    for period in found:
        key = period.truth if by == "truth" else f"{period.truth}: {period.stream}"
        rows.setdefault(key, Counter())[decide_cause(period.signs, limits)[0]] += 1
    print("| in truth | periods | " + " | ".join(CAUSES) + " |\n" + "|---" * (2 + len(CAUSES)) + "|")
    for key, counts in rows.items():
        total = counts.total()
        print(f"| {key} | {total} | " + " | ".join(f"{100 * counts[cause] / total:.0f}" for cause in CAUSES) + " |")
    print()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sets", nargs="+", default=["emoji-concepts", "emoji-concepts-b", "emoji-concepts-200"])
    arguments.add_argument("--repeats", type=int, default=10)
    arguments.add_argument("--quick", action="store_true", help="no corrupted and painted images")
    arguments.add_argument("--streams", action="store_true", help="a row for every stream, too")
    arguments.add_argument("--limits", action="store_true", help="what other limits do on the set that chose them")
    given = arguments.parse_args()
    clip = backbones.load("embedded")
    halves = (slice(0, 24), slice(24, 49))
    for place, name in enumerate(given.sets):
        found = list(periods(clip, name, given.repeats, given.quick))
        if place < len(halves):
            found += meanings(clip, halves[place], name, given.repeats)
        for view in ("logits", "features"):
            own = [period for period in found if period.view == view]
            print(f"{name}, {view}{' (limits were chosen here)' if place == 0 else ''}\n")
            table(own, "truth", CauseLimits())
            if given.streams:
                table(own, "stream", CauseLimits())
            if given.limits and place == 0:
                sweep(own)


def sweep(found: list[Period]) -> None:
    """Print the share of right causes and of false attributions under other limits."""
    for name, values in SWEPT.items():
        for value in values:
            limits = replace(CauseLimits(), **{name: value})
            said = [(period.truth, decide_cause(period.signs, limits)[0]) for period in found]
            false = np.mean([cause != NONE for truth, cause in said if truth == NONE])
            wrong = np.mean([cause not in (truth, NONE, CAUSES[-1]) for truth, cause in said if truth != NONE])
            right = [np.mean([cause == truth for truth, cause in said if truth == wanted]) for wanted in CAUSES[1:5]]
            print(
                f"{name} {value:g}: false {false:.3f}, wrong {wrong:.3f}, right " + ", ".join(f"{r:.2f}" for r in right)
            )


if __name__ == "__main__":
    main()
