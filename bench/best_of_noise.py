"""How often verdicts on detectors claim what is not so, and what a joint test would see more.

Noise: tables of k detectors that know nothing, 150 + 150 images. Equal: detectors that all have the same true AUROC.
Counted are the verdicts in which any is said to be above or below chance, or better than another. Power: the share of
tables in which a detector that is better by some points is shown to be above chance, and the best of all, by Holm and
by the largest of all k statistics, drawn jointly from their influences.

    python bench/best_of_noise.py --tables 300
"""

import argparse

import numpy as np

from openworld.metrics import auroc, holm
from openworld.ood.benchmark.report import LAYOUT, detection_brief
from openworld.ood.detection_results import detection_results
from openworld.ood.scored_sets import ScoredSets, SetScores

CLAIMS = ("is better", "below chance (AUROC 50): are", "has the highest", "nothing was run beside it")


def scored(scores: np.ndarray, name: str, group: str) -> SetScores:
    """Scores float[k, n] as a set of single images."""
    places = np.arange(scores.shape[1])
    each = {f"D{number}": row for number, row in enumerate(scores)}
    return SetScores(name, group, each, places, np.array([f"{name} {place}" for place in places]))


def verdict_of(inside: np.ndarray, *outside: np.ndarray) -> str:
    """The verdict on k detectors; of two sets the first is near and the second far."""
    groups = zip(outside, ("near", "far"), strict=False)
    sets = ScoredSets(scored(inside, "test", "id"), tuple(scored(own, group, group) for own, group in groups))
    return " ".join(LAYOUT.report(detection_brief(sets, detection_results(sets, replicates=0))).verdict)


def draw(generator, means, shared: float, images: int) -> np.ndarray:
    """float[k, images] of normal scores, a share of whose variance all detectors have in common."""
    common = generator.normal(size=images) * np.sqrt(shared)
    own = generator.normal(size=(len(means), images)) * np.sqrt(1 - shared)
    return np.asarray(means)[:, None] + common + own


def joint(generator, inside: np.ndarray, outside: np.ndarray) -> tuple[bool, bool, bool, bool]:
    """Is the best above chance, and better than all others: by Holm, then by the largest statistic."""
    areas = [auroc(*rows) for rows in zip(inside, outside, strict=True)]
    values = np.array([area.value for area in areas])
    parts = [np.stack([getattr(area.influence, side) for area in areas]) for side in ("base", "new")]
    covariance = sum(part @ part.T / (part.shape[1] * (part.shape[1] - 1)) for part in parts)
    drawn = generator.multivariate_normal(np.zeros(len(values)), covariance, 4000, method="eigh")
    errors, best = np.sqrt(np.diag(covariance)), int(values.argmax())
    statistic = np.abs(values - 0.5) / errors
    p = np.array([np.mean(np.abs(drawn / errors).max(axis=1) >= own) for own in statistic])
    first, second = np.triu_indices(len(values), 1)
    apart = np.sqrt(errors[first] ** 2 + errors[second] ** 2 - 2 * covariance[first, second])
    pairs = (values[first] - values[second]) / apart
    largest = np.abs((drawn[:, first] - drawn[:, second]) / apart).max(axis=1, initial=0)
    of_best = (first == best) | (second == best)
    from scipy.stats import norm

    plain, plain_pairs = (2 * norm.sf(np.abs(own)) for own in (statistic, pairs))
    return (
        holm(plain.tolist())[best] < 0.05 and values[best] > 0.5,
        all(p < 0.05 for p in np.array(holm(plain_pairs.tolist()))[of_best]),
        bool(p[best] < 0.05 and values[best] > 0.5),
        all(np.mean(largest >= own) < 0.05 for own in np.abs(pairs[of_best])),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--images", type=int, default=150)
    given = parser.parse_args()
    generator, images = np.random.default_rng(0), given.images
    print("false claims, percent of tables")
    for shared in (0.0, 0.9):
        for groups in (1, 2):
            for k in (1, 4, 8, 12):
                rates = {}
                for title, lift in (("noise", 0.0), ("equal", 1.0)):
                    claims = 0
                    for _ in range(given.tables):
                        outside = (draw(generator, np.zeros(k), shared, images) for _ in range(groups))
                        said = verdict_of(draw(generator, np.full(k, lift), shared, images), *outside)
                        counted = CLAIMS if not lift else CLAIMS[:2]
                        claims += any(claim in said for claim in counted)
                    rates[title] = f"{100 * claims / given.tables:.1f}"
                print(f"k = {k:2}, {groups} group(s), {shared:.1f} of the variance shared: {rates}", flush=True)
    print("power, percent of tables: (above chance, better than all) by Holm; by the largest statistic")
    for shared in (0.0, 0.9):
        for k in (4, 12):
            found = []
            for _ in range(given.tables):
                means = np.zeros(k)
                means[0] = 0.35 if shared < 0.5 else 0.3
                inside, outside = draw(generator, means, shared, images), draw(generator, np.zeros(k), shared, images)
                found.append(joint(generator, inside, outside))
            print(f"k = {k:2}, {shared:.1f} shared: {100 * np.mean(found, axis=0)}", flush=True)


if __name__ == "__main__":
    main()
