"""Records of recognition as results are made of them: facts, rows, scores image by image, thumbnails; and which belong
together: all learners of one setting, the seeds of each in order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.evaluations.rows import read_rows
from openworld.metrics import OpenworldAUC, openworld_auc
from openworld.report.sentences import counted
from openworld.results import Result, RunFolder
from openworld.runs import Record
from openworld.tables.coded import narrow


@dataclass(frozen=True, eq=False)
class ImageScores:
    """What a learner said of every image."""

    images: Mapping[str, np.ndarray]  # id, side "base"|"new", label, prediction, correct, score, ...
    classnames: tuple[str, ...] = ()  # base names, then new names
    weights: tuple[np.ndarray | None, np.ndarray | None] = (
        None,
        None,
    )  # float[n_base], float[n_new]: how much each image counts
    closed_set: bool = False  # it knows no names of new classes: `correct` says nothing of new images

    @cached_property
    def is_base(self) -> np.ndarray:
        """bool[N]: which images are of base classes."""
        return self.images["side"] == "base"

    @property
    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(base_scores, base_correct, new_scores, new_correct), as the metrics take them."""
        score, correct = np.asarray(self.images["score"]), np.asarray(self.images["correct"])
        return score[self.is_base], correct[self.is_base], score[~self.is_base], correct[~self.is_base]

    @property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """(base_groups, new_groups): what images that are not independent have in common, such as their drawing."""
        groups = np.asarray(self.images.get("group", self.images["id"]))
        return groups[self.is_base], groups[~self.is_base]

    @property
    def ids(self) -> np.ndarray:
        """int64[N]: which image every row is, base images first, each half in the table's order."""
        ids = np.asarray(self.images["id"])
        return np.concatenate([ids[self.is_base], ids[~self.is_base]])

    @property
    def n_base(self) -> int:
        return int(self.is_base.sum())

    @property
    def n_new(self) -> int:
        return len(self.is_base) - self.n_base

    @property
    def n_groups(self) -> int:
        return self.result.n_groups

    def __len__(self) -> int:
        return len(self.is_base)

    @cached_property
    def result(self) -> OpenworldAUC:
        """OpenworldAUC from the table, clustered by group, with what every image contributes to it."""
        weights = dict(zip(("base_weights", "new_weights"), self.weights, strict=True))
        base_groups, new_groups = self.groups
        *samples, new_correct = self.samples
        named = None if self.closed_set else new_correct
        return openworld_auc(*samples, named, **weights, base_groups=base_groups, new_groups=new_groups)

    @property
    def facts(self) -> tuple[np.ndarray, ...]:
        """What is known of every image, whatever was predicted for it: number, side, class and group."""
        classes = np.asarray(self.classnames, dtype=object)[np.asarray(self.images["label"])]
        return self.ids, self.is_base, classes, *self.groups

    def only(self, ids: np.ndarray) -> "ImageScores":
        """Return some images alone: ids int64[n], sorted, each once and each known here."""
        all_ids = np.asarray(self.images["id"])
        order = np.argsort(all_ids, kind="stable")
        rows = order[np.searchsorted(all_ids[order], ids)]
        places = [
            None if weights is None else weights[np.searchsorted(np.flatnonzero(side), rows[side[rows]])]
            for weights, side in zip(self.weights, (self.is_base, ~self.is_base), strict=True)
        ]
        images = {name: np.asarray(column)[rows] for name, column in self.images.items()}
        return replace(self, images=images, weights=tuple(places))


@dataclass(frozen=True, eq=False)
class Outcome:
    """One learner, trained with one seed and scored in one setting."""

    facts: Mapping[str, Any]  # what the record says: learner, seed, setting, names of the classes, how it was trained
    rows: tuple[Result, ...]  # every number, as the unit wrote it
    test: ImageScores  # what it said of the test images
    validation: ImageScores | None = None
    thumbnail: Callable[[int], bytes | None] = lambda _: None  # the PNG bytes of an image id
    seconds: Mapping[str, float] = field(default_factory=dict)  # how long each stage took
    fingerprint: str | None = None  # of the test images; None where they were never seen

    @property
    def learner(self) -> str:
        return self.facts["learner"]

    @property
    def seed(self) -> int:
        return self.facts["seed"]

    @property
    def area(self) -> float | None:
        """OpenworldAUC on the images as they are; None where it is not defined."""
        return next(row.value.value for row in self.rows if row.metric.key == "openworld_auc" and not row.where)

    @property
    def group_name(self) -> str:
        """What images that are not independent have in common ("drawing"); "" where every image stands alone."""
        return "" if self.test.n_groups == len(self.test) else self.facts.get("group_name") or "group"


def load(folder) -> tuple[Outcome, ...]:
    """Return the outcomes of the run in a folder, every record verified."""
    return outcomes(RunFolder.read(folder))


def outcomes(run: RunFolder) -> tuple[Outcome, ...]:
    """Return the outcomes of a run: one per record, and of generalisation one per target."""
    readers = {"recognition": _outcome, "generalisation": _target_outcomes}
    kinds = ((record, record.metrics.get("protocol")) for record in run.records)
    outcomes = tuple(outcome for record, kind in kinds if kind in readers for outcome in readers[kind](record))
    if not outcomes:
        raise OpenworldError(f"{run.folder} holds no recognition record, so there is nothing to report on yet.")
    return outcomes


def _outcome(record: Record) -> Iterator[Outcome]:
    facts = record.metrics
    known: dict[str, Any] = {"classnames": tuple(facts["classnames"]), "closed_set": facts.get("closed_set", False)}
    scores = {name: ImageScores(_compact(record.table(name, coded=True)), **known) for name in record.tables}
    thumbnails, fingerprint = _thumbnails(record, "images"), record.unit.inputs.get("test")
    rows, validation = read_rows(record).rows, scores.get("validation")
    yield Outcome(facts, rows, scores["images"], validation, thumbnails, record.seconds, fingerprint)


def _compact(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same numbers in fewer bytes: whole ones in as few as hold them, and groups that are the ids once."""
    compact = {}
    for name in list(table):
        column = table.pop(name)
        if isinstance(column, np.ndarray) and column.dtype == np.int64 and column.size:
            column = narrow(column, max(int(column.max()), -int(column.min())) + 1)
        compact[name] = column
    ids, groups = compact.get("id"), compact.get("group")
    if ids is not None and groups is not None and np.array_equal(ids, groups):
        compact["group"] = ids
    return compact


def _target_outcomes(record: Record) -> Iterator[Outcome]:
    """Yield an outcome per target of a record of generalisation, that of the source first."""
    table, rows = record.table("images"), read_rows(record).rows
    for number, target in enumerate(record.metrics["targets"]):
        here = table["target"] == number
        facts = {**record.metrics, **target}
        images = {name: column[here] for name, column in table.items() if name != "target"}
        place = {"kind": target["kind"], "target": target["target"]}
        outcomes = tuple(
            replace(row, where={name: each for name, each in row.where.items() if name not in place})
            for row in rows
            if not row.where or place.items() <= row.where.items()
        )
        share = {"score": float(here.mean())}  # of scoring; the fit serves all targets
        seconds = {stage: value * share.get(stage, 1.0) for stage, value in record.seconds.items()}
        fingerprint = " ".join(record.unit.inputs[part] for part in target["parts"])
        scores = ImageScores(images, tuple(facts["classnames"]))
        yield Outcome(facts, outcomes, scores, None, _thumbnails(record, f"images/{number}"), seconds, fingerprint)


def _thumbnails(record: Record, folder: str) -> Callable[[int], bytes | None]:
    attachments = set(record.attachments)

    def thumbnail(number: int) -> bytes | None:
        name = f"{folder}/{number}.png"
        return record.attachment(name) if name in attachments else None

    return thumbnail


@dataclass(frozen=True)
class Setting:
    """What the learners of one table have in common, by the names of a record; None for what does not apply."""

    task: str
    split: str
    train_domain: str | None
    test_domain: str | None
    backbone: str
    shots: int | None
    target: str | None = None  # of several places where learners that were tuned once are scored

    @property
    def domains(self) -> str:
        """The domain, or where it was trained and where it was tested."""
        same = self.train_domain == self.test_domain
        return (self.test_domain or "") if same else f"{self.train_domain} → {self.test_domain}"

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results from those of other settings, as columns of data."""
        parts = {"task": self.task, "target": self.target, "domain": self.domains, "shots": self.shots}
        return {name: part for name, part in parts.items() if part}

    @property
    def title_parts(self) -> tuple[str, ...]:
        """What a title may be made of: the task or target, the split, the domains, the shots, the backbone."""
        shots = counted(self.shots, "shot") if self.shots else "no shots"
        place = (self.target, "", "") if self.target else (self.task, self.split, self.domains)
        return (*place, shots, self.backbone)


def setting_of(outcome: Outcome) -> Setting:
    parts: dict[str, Any] = {name: outcome.facts.get(name) for name in Setting.__annotations__}
    return replace(Setting(**parts), shots=parts["shots"] or None)


def by_setting(outcomes: Sequence[Outcome]) -> dict[Setting, dict[str, tuple[Outcome, ...]]]:
    """Return every setting in order of first appearance with its learners, the seeds of each in increasing order."""
    # Learners that tune nothing and name no shots join every setting that they match.
    settings = dict.fromkeys(map(setting_of, outcomes))
    by_setting = {}
    for setting in [setting for setting in settings if setting.shots] or settings:
        of_learner: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            untuned = outcome.facts.get("tuned_parameters") == 0 and setting_of(outcome) == replace(setting, shots=None)
            if untuned or setting_of(outcome) == setting:
                of_learner.setdefault(outcome.learner, []).append(outcome)
        by_seed = {learner: sorted(runs, key=lambda run: run.seed) for learner, runs in of_learner.items()}
        by_setting[setting] = {learner: tuple(runs) for learner, runs in by_seed.items()}
    return by_setting


def titles(settings: Sequence[Setting]) -> dict[Setting, str]:
    """A short title of every setting: the task, and whatever else differs between the settings."""
    by_part = zip(*(setting.title_parts for setting in settings), strict=True)
    differing = [at for at, part in enumerate(by_part) if len(set(part)) > 1] if len(settings) > 1 else [0]
    return {setting: " · ".join(filter(None, (setting.title_parts[at] for at in differing))) for setting in settings}
