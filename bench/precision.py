"""How far results with frozen towers in TF32, bfloat16 and float16 lie from those in float32, on the embedded world.

    python bench/precision.py [--device cpu] [--learners zero-shot CoOp KgCoOp] [--epochs 10] [--seeds 1 2 3]
        [--precisions tf32 bfloat16 float16] [--backbone embedded]

Prints, for each precision, of the test images of `emoji-concepts`:

    cosine      the smallest and the mean cosine between an image's embedding and its embedding in float32
    length      the largest relative difference of their lengths
    same name   share of images whose best zero-shot name of all names is the same

and, for each learner, trained in that precision with prompts in float32, OpenworldAUC, top-1 of base and of new
classes, and AUROC (percent, mean over seeds) less those in float32, the largest such difference of a single
seed, and the time of fitting as a ratio. On a CPU tf32 is float32, and half precision is slower.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld.backbones.devices import DTYPES
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.rows import ROWS
from openworld.evaluations.runtime import Machine
from openworld.features import encode
from openworld.learners import ZeroShot
from openworld.results import Results

METRICS = {
    "openworld_auc": "OpenworldAUC",
    "base_accuracy": "base",
    "new_accuracy": "new",
    "auroc": "AUROC",
}


@dataclass(frozen=True, eq=False)
class Said:
    """Embeddings of the test images and the best zero-shot name of each, float64[N, D] and int64[N]."""

    embeddings: np.ndarray
    names: np.ndarray


def said(source: ImageSelection, name: str, machine: Machine) -> Said:
    """What a backbone makes of images."""
    clip, images = machine.backbone(name), source.load()
    found = encode(clip, images, cache=machine.folder)
    learner = ZeroShot(templates=(TEMPLATES.get(source.sources[0].dataset, PHOTO),))
    fitted = learner.fit(clip, found, seed=0)
    logits = fitted.logits(found, fitted.text_bank(images.classnames))
    return Said(found.embeddings.astype(np.float64), logits.argmax(axis=1))


def apart(exact: Said, other: Said) -> dict[str, float]:
    """How far embeddings and names lie apart."""
    lengths = [np.linalg.norm(one.embeddings, axis=1) for one in (exact, other)]
    cosines = (exact.embeddings * other.embeddings).sum(axis=1) / (lengths[0] * lengths[1])
    return {
        "smallest cosine": float(cosines.min()),
        "mean cosine": float(cosines.mean()),
        "length": float(np.abs(lengths[1] / lengths[0] - 1).max()),
        "same name": float((exact.names == other.names).mean()),
    }


def measured(spec: RecognitionSpec, machine: Machine) -> dict[str, np.ndarray]:
    """{learner: float64[seeds, metrics and seconds]}."""
    found: dict[str, list[list[float]]] = {}
    for unit in EVALUATION.units(spec, machine):
        result = unit.run()
        rows = Results.from_parquet(result.attachments[ROWS])
        values = [100 * row.value.value for key in METRICS for row in rows.where(metric=key) if not row.where]
        found.setdefault(result.metrics["learner"], []).append([*values, result.timing["seconds"]["fit"]])
    return {learner: np.array(rows) for learner, rows in found.items()}


def lines(exact: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> list[str]:
    """A line per learner."""
    told = []
    for learner, rows in other.items():
        difference = (rows - exact[learner])[:, : len(METRICS)]
        means = "  ".join(f"{mean:+7.2f}" for mean in difference.mean(axis=0))
        ratio = rows[:, -1].sum() / max(exact[learner][:, -1].sum(), 1e-9)
        told.append(f"  {learner:16}{means}   largest {np.abs(difference).max():5.2f}   fitting x {ratio:.1f}")
    return told


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--backbone", default="embedded")
    parser.add_argument("--learners", nargs="+", default=["zero-shot", "CoOp", "KgCoOp"])
    parser.add_argument("--precisions", nargs="+", default=[one for one in DTYPES if one != "float32"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=10)
    asked = parser.parse_args(arguments)
    learners = tuple(_learner(name, asked.epochs) for name in asked.learners)
    spec = RecognitionSpec(learners, backbone=asked.backbone, seeds=tuple(asked.seeds), keep_validation=False)
    source = DatasetSpec(spec.dataset, spec.test_domain).images()
    with tempfile.TemporaryDirectory() as cache:
        machine = Machine(device=asked.device, cache=cache)
        exact, numbers = said(source, spec.backbone, machine), measured(spec, machine)
        print(f"float32, percent of {', '.join(METRICS.values())}, and seconds of fitting")
        for learner, rows in numbers.items():
            print(f"  {learner:16}" + "  ".join(f"{mean:7.2f}" for mean in rows.mean(axis=0)))
        for precision in asked.precisions:
            there = replace(machine, precision=precision)
            distances = apart(exact, said(source, spec.backbone, there))
            print(f"\n{precision}: " + ", ".join(f"{name} {value:.6f}" for name, value in distances.items()))
            for line in lines(numbers, measured(replace(spec, precision=precision), there)):
                print(line)


def _learner(name: str, epochs: int) -> LearnerSpec:
    return LearnerSpec(name) if name == "zero-shot" else LearnerSpec(name, settings={"schedule": {"epochs": epochs}})


if __name__ == "__main__":
    main()
