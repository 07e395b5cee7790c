"""Class means: how well do the mean embeddings of a few training images name test images?"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from openworld import OpenworldError
from openworld.evaluations.encoding import EncodingStage
from openworld.evaluations.evaluation import ClassList, Evaluation, Spec
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.features import Encoding
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult


@dataclass(frozen=True)
class ClassMeansSpec(Spec):
    """Name test images by the nearest mean of a few training images.

    Args:
        data: what is named.
        shots: training images of each class, a row of the table each.
        seeds: of their draw.
        backbone: whose embeddings are averaged.
    """

    data: DatasetSpec
    protocol: Literal["class-means"] = "class-means"
    shots: tuple[int, ...] = (1, 2, 4)
    seeds: tuple[int, ...] = (1, 2, 3)
    backbone: str = "embedded"

    def __post_init__(self):
        for name in ("shots", "seeds"):
            if not getattr(self, name):
                raise OpenworldError(f"{name} is empty; give at least one.")

    @property
    def name(self) -> str:
        """What people call the unit of a task: so many shots, drawn by one seed."""
        return f"{self.shots[0]} shots, seed {self.seed}"

    @property
    def image_sets(self) -> dict[str, ImageSelection]:
        """The image sets that a task reads."""
        shots = self.data.images("train", seed=self.seed, shots=self.shots[0])
        return {"train": shots, "test": self.data.images("test")}

    def encoding(self, part: str) -> Encoding:
        """What is encoded of each: its embeddings."""
        return Encoding()


def tasks(spec: ClassMeansSpec) -> list[ClassMeansSpec]:
    return [spec.only(shots=(shots,), seed=seed) for shots in spec.shots for seed in spec.seeds]


def inputs(task: ClassMeansSpec, machine: Machine) -> dict[str, str]:
    """All that the numbers depend on, beside the task."""
    found = {part: images.fingerprint for part, images in task.image_sets.items()}
    return found | {"weights": machine.backbone(task.backbone).fingerprint}


def evaluate(task: ClassMeansSpec, machine: Machine) -> UnitResult:
    parts = encoded_parts(task, machine)
    train, test = parts["train"], parts["test"]
    units = {part: _unit_length(features.embeddings[:]) for part, features in parts.items()}
    classes = range(len(train.classnames))
    means = _unit_length(np.stack([units["train"][train.labels == one].mean(axis=0) for one in classes]))
    prediction = (units["test"] @ means.T).argmax(axis=1)
    table = {"id": test.rows, "label": test.labels, "prediction": prediction}
    accuracy = Value(float((prediction == test.labels).mean()))
    return UnitResult(
        outputs={"images": table},
        metrics={"shots": task.shots[0], "seed": task.seed},
        attachments=rows_of_unit(
            "class-means",
            [Result(f"{task.shots[0]} shots", METRICS["accuracy"], accuracy)],
            seed=task.seed,
            shared=[Result("", METRICS["images"], Value(len(test)))],
        ),
    )


def _unit_length(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def class_lists(spec: ClassMeansSpec) -> tuple[ClassList]:
    names = spec.data.classnames
    return (ClassList(str(spec.data), spec.data.dataset, names, len(names)),)


EVALUATION = Evaluation(
    "class-means",
    ClassMeansSpec,
    tasks,
    evaluate,
    version=1,
    inputs=inputs,
    artifacts=lambda spec, machine: (EncodingStage(tasks(spec), machine),),
    summary=lambda spec: [str(spec.data), f"{len(spec.shots)} numbers of shots"],
    class_lists=class_lists,
    report="class_means_report",
)
