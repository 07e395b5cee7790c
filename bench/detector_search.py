"""Settings of detectors searched over passes that are made once, against a run of each setting by itself.

    python bench/detector_search.py [--images 200] [--side 32] [--architecture resnet-18]

The naive search is OpenOOD's: every setting scores the in-distribution validation images and those out of distribution
in passes of its own (what is learned of training images is gathered once per detector, as its `setup` does). Both
searches try the published grids; both must choose the same settings, and say the same AUROCs.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
import torch

from openworld.classifiers import build
from openworld.detectors import ASH, FDBD, GEN, KNN, NCI, ODIN, SCALE, VRA, ReAct, ViM, candidates, plan, watch
from openworld.detectors.engine.search import settings_of
from openworld.metrics import auroc

CLASSES = 10
GRIDS = {"ViM": {"dimensions": (8, 32)}, "KNN": {"k": (5, 20, 50)}}  # published ones ask for more features and images


def batches(images, size=50):
    """Images with labels, as a loader gives them."""
    return [(part, torch.arange(len(part)) % CLASSES) for part in images.split(size)]


def scores_of(route, fitted, images):
    """Scores of all fitted detectors."""
    return {label: own.double().numpy() for label, own in route.score(fitted, batches(images)).items()}


def searched_once(given, grids, model, train, known, strange):
    """Every setting in the passes of one plan."""
    tried = candidates(given, grids)
    route = plan(tried.detectors, model)
    fitted, refused = route.gather(batches(train)).fit_able()
    inside, outside = (scores_of(route, fitted, images) for images in (known, strange))
    return {search.detector: search for search in tried.choose(inside, [outside], refused=refused)}


def searched_one_by_one(given, grids, model, train, known, strange):
    """Every setting in passes of its own."""
    found = {}
    for label, detector in given.items():
        areas, statistics = [], plan({label: detector}, model).gather(batches(train))
        for setting in settings_of(grids[label]):
            own = replace(detector, **setting)
            route = plan({label: own}, model)
            fitted = replace(statistics, detectors={label: own}).fit()
            inside, outside = (scores_of(route, fitted, images)[label] for images in (known, strange))
            areas.append(auroc(inside, outside).value)
        found[label] = areas
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200, help="of each of the three sets")
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--architecture", default="resnet-18")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    network = build(chosen.architecture, CLASSES, chosen.side).eval()
    shape = (chosen.images, 3, chosen.side, chosen.side)
    train, known, strange = torch.rand(shape), torch.rand(shape), torch.rand(shape) ** 2
    model = watch(network, train[:2], pixel_std=(0.25,) * 3)
    kinds = (GEN, ASH, SCALE, ReAct, KNN, ViM, VRA, NCI, FDBD, ODIN)
    given = {kind.name: kind() for kind in kinds}
    grids = {label: GRIDS.get(label, getattr(detector, "sweep", {})) for label, detector in given.items()}
    print("detector   settings   once s   one by one s   ratio")
    rows = [({label: detector}, {label: grids[label]}) for label, detector in given.items()] + [(given, grids)]
    for some, own in rows:
        start = time.perf_counter()
        once = searched_once(some, own, model, train, known, strange)
        middle = time.perf_counter()
        naive = searched_one_by_one(some, own, model, train, known, strange)
        end = time.perf_counter()
        for label, search in once.items():
            assert np.allclose([area.value for _, area in search.trials], naive[label], atol=1e-6), label
        count = sum(len(search.trials) for search in once.values())
        name = next(iter(some)) if len(some) == 1 else "all"
        first, second = middle - start, end - middle
        print(f"{name:<10} {count:>8} {first:>8.2f} {second:>14.2f} {second / first:>7.1f}", flush=True)


if __name__ == "__main__":
    main()
