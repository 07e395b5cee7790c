"""Speed of what grows with many models, many classes or large images, against the plain form of the same in this run.

    python bench/many.py [--models 200] [--classes 1000] [--images 2000] [--side 224]

models    `openworld score` of one file of several models: read once, against once for each model; and the pairs that
          are shown, against all pairs.
classes   what estimators say of source-like sets (`measure_null`): what is found of an image is found once for all
          draws and all estimators, against each estimator by itself on copies.
side      a classifier on a CPU: batches of as many pixels as 128 small images, against 128 images at a time.

Prints processor seconds of both (of images the system's share, which is what large batches cost), the ratio, and the
largest difference between the numbers.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROWS = 200  # of each model
BATCH = 128


def timed(run: Callable) -> tuple[object, float, float]:
    """What a call returns, its processor seconds, and those of them that the system took."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    found = run()
    after = resource.getrusage(resource.RUSAGE_SELF)
    system = after.ru_stime - before.ru_stime
    return found, after.ru_utime - before.ru_utime + system, system


def models(count: int) -> list[tuple[str, float, float, float]]:
    import pandas

    from openworld.api.finished_runs import open_run
    from openworld.own_data import score

    generator = np.random.default_rng(0)
    names = np.repeat([f"model {number}" for number in range(count)], ROWS)
    sides = np.tile(np.repeat(["base", "new"], ROWS // 2), count)
    table = {"model": names, "side": sides, "score": generator.normal(size=names.size)}
    table["correct"] = generator.random(names.size) < generator.uniform(0.4, 0.9, count).repeat(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "predictions.parquet")
        pandas.DataFrame(table).to_parquet(file)

        def scored(name: str, **settings) -> dict:
            score.score_file(file, Path(folder, name), ["bench"], **settings)
            rows = open_run(Path(folder, name)).results
            return {row.key: row.value.value for row in rows if row.metric.key in ("openworld_auc", "auroc")}

        shown, ours, _ = timed(lambda: scored("ours"))
        every, all_pairs, _ = timed(lambda: scored("pairs", all_pairs=True))
        once = score._of_several

        def read_again(*given):
            return once.__wrapped__(*given)

        read_again.cache_clear = once.cache_clear
        score._of_several = read_again
        try:
            again, plain, _ = timed(lambda: scored("again"))
        finally:
            score._of_several = once
    off = max(abs(value - again[key]) for key, value in shown.items())
    apart = max(abs(value - every[key]) for key, value in shown.items())
    return [("read for each model", ours, plain, off), ("all pairs", ours, all_pairs, apart)]


def classes(images: int, count: int) -> list[tuple[str, float, float, float]]:
    from openworld.estimators import ESTIMATORS, Outputs, measure_null

    generator = np.random.default_rng(0)
    labels = generator.integers(0, count, images)
    logits = 2 * generator.normal(size=(images, count))
    logits[np.arange(images), labels] += 7
    names = ("AC", "DoC", "ATC-MC", "ATC-NE", "COT", "COTT")
    estimators = {name: ESTIMATORS[name]() for name in names}

    def alone() -> dict:
        drawn, Outputs.draw = Outputs.draw, Outputs.take  # copies, which share nothing
        try:
            return {
                name: measure_null({name: one}, Outputs(logits, labels), images)[name]
                for name, one in estimators.items()
            }
        finally:
            Outputs.draw = drawn

    together, ours, _ = timed(lambda: measure_null(estimators, Outputs(logits, labels), images))
    apart, plain, _ = timed(alone)
    off = max(float(np.abs(together[name].estimates - apart[name].estimates).max()) for name in names)
    return [(f"each estimator by itself, {count:,} classes", ours, plain, off)]


def large_images(side: int, count: int = 4 * BATCH) -> list[tuple[str, float, float, float]]:
    from openworld.classifiers import Classifier, Preprocess, build

    squash = Preprocess(side, side, "squash", (0.5,) * 3, (0.5,) * 3)
    classifier = Classifier(build("resnet-14", 10, side), tuple("abcdefghij"), squash, "resnet-14")
    pixels = np.random.default_rng(0).integers(0, 256, (count, 3, side, side), np.uint8)
    small, _, ours = timed(lambda: classifier.logits_of_pixels(pixels))
    whole, _, plain = timed(lambda: classifier.logits_of_pixels(pixels, batch_size=BATCH))
    return [
        (f"{BATCH} images of {side} pixels at a time, system time", ours, plain, float(np.abs(small - whole).max()))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--side", type=int, default=224)
    asked = parser.parse_args()
    started = time.perf_counter()
    parts = (
        lambda: models(asked.models),
        lambda: classes(asked.images, asked.classes),
        lambda: large_images(asked.side),
    )
    print(f"{'plain form':60} {'ours, s':>8} {'plain, s':>9} {'ratio':>6} {'apart':>9}")
    for part in parts:
        for title, ours, plain, off in part():
            print(f"{title:60} {ours:8.2f} {plain:9.2f} {plain / max(ours, 0.01):6.1f} {off:9.1e}", flush=True)
    print(f"{time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
