"""Features [n, D], logits [n, C] or both, of a file or of columns: as images, and as a model with its head."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld.core.arrays import as_labels
from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.formats.numbered_list import UNLABELLED
from openworld.datasets.image_set import path_column
from openworld.datasets.names.forms import numbered_names
from openworld.detectors import Activations, FitStatistics, Head
from openworld.detectors.catalogue import LOGITS_ALONE
from openworld.detectors.engine.fitted import plain_scores
from openworld.evaluations.runtime import Machine
from openworld.ood.models import Detectors, Fitted, ImageAnswers, JudgedModel, are_labelled, named
from openworld.tables.classes import class_numbers, listed_names
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.table import Schema, TableColumn, open_table

FEATURE_FILES = (".npz", ".parquet", ".safetensors", ".jsonl")
FEATURES = Schema(
    (
        *(TableColumn(name, "vectors") for name in ("features", "logits")),
        TableColumn("labels", "entry", also=("label",)),
        TableColumn("part", "entry", also=("split",)),
        TableColumn("image", "entry", also=("id", "path")),
        TableColumn("cluster", "entry", also=("group",)),
    )
)
HEAD = Schema((TableColumn("weight", "vectors", needed=True), TableColumn("bias")))
"""The last layer of a classifier: `weight` [C, D], and perhaps `bias` [C]."""


@dataclass(frozen=True, eq=False)
class FeatureModel(JudgedModel):
    """What enters a head, and the head: from files; None where logits came alone."""

    name: str
    head: Head | None
    offers: frozenset[str]
    kind = "features"
    classnames = ()

    @classmethod
    def of(cls, given: Any, images: ImageSet) -> "FeatureModel":
        """The head of a file with `weight` [C, D] and perhaps `bias` [C], for such rows."""
        head = None
        if given:
            table = open_table(open_scores(given, FEATURE_FILES), HEAD).whole()
            weight = table["weight"]
            bias = torch.from_numpy(table["bias"].astype(weight.dtype)) if "bias" in table else None
            head = Head(torch.from_numpy(weight), bias)
        shown = {"features", "logits"} & set(columns_of(images) or ())
        shown |= {"head", "logits"} if head is not None and "features" in shown else set()
        return cls(f"the model of {images.name}", head, frozenset(shown))

    @property
    def fingerprint(self) -> str:
        """Of the head; "" without one."""
        if self.head is None:
            return ""
        parts = (part.numpy().tobytes() for part in (self.head.weight, self.head.bias) if part is not None)
        return hashlib.sha256(b"".join(parts)).hexdigest()

    @property
    def usual(self) -> tuple[str, ...]:
        logits = LOGITS_ALONE if "logits" in self.offers else ()
        return (*logits, *(("KNN", "MDS", "RMDS") if "features" in self.offers else ()))

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        seen = Activations(head=self.head) if images is None else self._see(images)
        if images is not None and are_labelled(images):
            seen = replace(seen, labels=torch.from_numpy(images.labels))
        return detectors.gather(chosen, [seen])

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        seen = self._see(images)
        scores = plain_scores(detectors.score_together(fitted, seen))
        return ImageAnswers(np.arange(len(images)), scores, *(named(seen.logits) if "logits" in self.offers else ()))

    def _see(self, images: ImageSet) -> Activations:
        columns = columns_of(images)
        if columns is None:
            raise OpenworldError(f"{images.name} are images; where the others are features, give features of them too.")
        parts = {name: torch.from_numpy(columns[name]) for name in ("features", "logits") if name in columns}
        return Activations(parts.get("features"), self.head, parts.get("logits"))


def are_features(where: Any) -> bool:
    if isinstance(where, ScoreFile):
        return bool({"features", "logits"} & set(where.columns))
    path = Path(where) if isinstance(where, str | Path) else Path()
    if path.suffix.lower() not in FEATURE_FILES or not path.is_file():
        return False
    return bool({"features", "logits"} & set(open_scores(path, FEATURE_FILES).columns))


def feature_images(file: ScoreFile) -> ImageSet:
    tables = {"features", "logits"} & set(file.columns)
    if not tables:
        raise OpenworldError(f"{file.path} has {', '.join(file.columns)}, expected features [N, D] or logits [N, C].")
    table = open_table(file, FEATURES).whole()
    count = len(next(iter(table.values())))
    names, labels = UNLABELLED, np.zeros(count, np.int64)
    if "labels" in table:
        listed = listed_names(file)
        labels = as_labels(class_numbers(table["labels"], listed, None), "column labels")
        names = tuple(listed) if listed else numbered_names(int(labels.max(initial=0)) + 1)
    groups = np.arange(count)
    if "cluster" in table:
        groups = np.unique(table["cluster"].astype(str), return_inverse=True)[1]
    content = hashlib.sha256()
    for name, column in sorted(table.items()):
        content.update(name.encode() + (column.astype(str) if column.dtype == object else column).tobytes())
    paths = path_column(map(str, table["image"].tolist())) if "image" in table else {}
    stem, read = file.path.stem, partial(no_image, file.path.stem)
    return ImageSet(stem, "", names, labels, groups, content.hexdigest(), read, columns={**table, **paths})


def no_image(title: str, index: int) -> Any:
    raise OpenworldError(f"{title} has features and no images, of which there is nothing to read.")


def part_of_features(images: ImageSet, part: str) -> ImageSet | None:
    columns = columns_of(images) or {}
    if "part" not in columns:
        return images if part == "test" else None
    kept = np.flatnonzero([str(own) in (part, part[:3]) for own in columns["part"].tolist()])
    own = images.subset(kept)
    groups = own.groups if "cluster" in columns else np.arange(len(kept))
    return replace(own, groups=groups) if len(kept) else None


def columns_of(images: ImageSet) -> Mapping[str, np.ndarray] | None:
    """Return the features and logits of an image set that has them instead of images; None of images."""
    return images.columns if {"features", "logits"} & set(images.columns) else None


def has_pixels(images: ImageSet) -> bool:
    """Whether there is an image to be read, and not embeddings or features alone."""
    return images.embeddings is None and columns_of(images) is None
