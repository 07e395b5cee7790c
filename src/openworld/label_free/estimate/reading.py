"""Tables of scores as `Outputs`, block by block, and one reading of them: a sample, counts, what speaks against them.

What the columns mean stands in `tables.judged`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import sha256_of
from openworld.datasets.training_images import ALIKE, SAME
from openworld.estimators import LabelledShift, Outputs, check_reference
from openworld.estimators.quote.source_check import SOFTMAX, are_many, check_source
from openworld.estimators.streaming import Sampler
from openworld.label_free.estimate.accuracy_estimate import ScoredSet
from openworld.tables import table as tables
from openworld.tables.files import ScoreFile
from openworld.tables.judged import APPEARANCE, FEATURES, IMAGE_COLUMNS, JUDGED, PARTNER, SEEN
from openworld.tables.probabilities import are_probabilities, logarithms, rounded_rows

ALIKE_SHARE = 0.1  # of the source whose difference hashes a training image has, from which that is no chance
UNEQUAL = 0.1  # by how much the partner of GDE may differ in accuracy before that is said
CORRUPTIONS = "corruptions"
"""Says instead of a labelled shift's file: corrupted copies of the source's images."""

Progress = Callable[[str, int], None]
"""Called with what is being done and how many images are done."""


class ScoreBlock(NamedTuple):
    """Some images in order."""

    outputs: Outputs
    times: np.ndarray | None = None  # time stamps [n] as the file has them
    rounded: int = 0  # rows of probabilities that had to be divided by their sums
    seen: np.ndarray | None = None  # integer[n], which images the model was trained on, as the file says
    images: np.ndarray | None = None  # what the file calls them [n], where `ScoreTable.images` asks for it


@dataclass(frozen=True, eq=False)
class ScoreTable(tables.TypedTable):
    """Scores of one image set, in one file or several that follow each other."""

    partners: "tuple[ScoreTable, ...]" = ()  # further models on the same images, whose logits alone are read
    times: str = ""  # the column of time stamps, or ""
    images: bool = False  # whether to read what the images are called, from the first of `IMAGE_COLUMNS`
    vectors: tuple[str, ...] = ()  # columns of vectors of images that are read, which all files must have

    def with_vectors(self, wanted: Collection[str] = (FEATURES, APPEARANCE)) -> "ScoreTable":
        """Return it so that vectors of images are read, of those that are wanted and that all files have."""
        return replace(self, vectors=tuple(name for name in wanted if name in self.present))

    def ordered(self, classnames: Sequence[str] | None, other: str) -> Self:
        """Return it with the classes in the order of those names, where both sides have some; refuse other names."""
        partners = tuple(partner.ordered(classnames, other) for partner in self.partners)
        return replace(super().ordered(classnames, other), partners=partners)

    def entries(self, name: str, rows: np.ndarray | None = None) -> list[str]:
        """Return what a column that all files have says of every image, or of some rows in order, as text."""
        first, texts = 0, []
        for file in self.files:
            for block in file.blocks([name]):
                values, count = block[name], len(block[name])
                if rows is not None:
                    values = values[rows[(first <= rows) & (rows < first + count)] - first]
                texts += map(str, values)
                first += count
        return texts

    def scores(self, doing: str = "", progress: Progress | None = None) -> Iterator[ScoreBlock]:
        """Yield the images in order; refuse what is damaged, not finite or of no class by file and row."""
        done = 0
        partners = [_Partner(table) for table in self.partners]
        images = next((name for name in IMAGE_COLUMNS if self.images and name in self.present), "")
        matrices = self.layouts[0].matrices
        beside = sorted(name for name in matrices if name.startswith(PARTNER))
        for columns, place, count in self.blocks([*matrices, *self.vectors, "labels", SEEN, self.times, images]):
            logits = tuple(partner.take(count, place) for partner in partners)
            try:
                rounded = rounded_rows(columns["probabilities"]) if "probabilities" in columns else 0
                outputs = Outputs(
                    columns["logits"] if "logits" in columns else logarithms(columns["probabilities"]),
                    columns.get("labels"),
                    columns.get("reference"),
                    (*(columns[name] for name in beside), *logits),
                    features=columns.get(FEATURES),
                    appearance=columns.get(APPEARANCE),
                )
            except OpenworldError as error:
                raise OpenworldError(f"{place} ({count:,} rows from there): {error}") from error
            yield ScoreBlock(outputs, columns.get(self.times), rounded, columns.get(SEEN), columns.get(images))
            done += count
            if progress:
                progress(doing, done)
        for partner in partners:
            if len(partner.held) or next(partner.blocks, None) is not None:
                raise OpenworldError(f"partner {partner.name} has more images than the model; give the same images.")


def open_table(
    paths: Sequence[Path | str | ScoreFile],
    *,
    classnames: Sequence[str] | None = None,
    partners: Sequence[Path | ScoreFile] = (),
    times: str = "",
    title: str = "",
) -> ScoreTable:
    """Return scores in files that follow each other; classnames: in column order, or None."""
    schema = JUDGED.plus(tables.TableColumn(times, "entry"))
    table = tables.open_table(list(paths), schema, classnames=classnames, title=title)
    for file in table.files:
        if times and times not in file.columns:
            raise unknown_name(f"column of {file.path}:", times, file.columns)
    whose, first = f"those of {table.files[0].path.name}", table.layouts[0].classes
    others = (open_table([path], classnames=first.in_file).ordered(first.names, whose) for path in partners)
    return ScoreTable(table.layouts, schema, title, tuple(others), times)


class _Partner:
    """The logits of a partner, cut as the blocks of the model are."""

    def __init__(self, table: ScoreTable):
        self.name, self.blocks, self.held = table.name, table.scores(), np.empty((0, 0))

    def take(self, count: int, place: str) -> np.ndarray:
        pieces, missing = [self.held], count - len(self.held)
        while missing > 0:
            block = next(self.blocks, None)
            if block is None:
                raise OpenworldError(f"partner {self.name} ends before {place}: it has {missing:,} images too few.")
            pieces.append(block.outputs.logits)
            missing -= block.outputs.n
        whole = np.concatenate([piece for piece in pieces if len(piece)])
        self.held = whole[count:]
        return whole[:count]


@dataclass(frozen=True)
class NamedShift:
    """Where a labelled shift lies: a file of scores, or images; family and artificial as in `LabelledShift`."""

    family: str
    place: str
    artificial: bool = False
    title: str = ""


def named_shift(text: str) -> NamedShift:
    """Return a labelled shift that was given as FAMILY=PLACE, or as PLACE, whose family is its name without ending."""
    family, equals, place = text.partition("=")
    if not equals or Path(text).exists():
        return NamedShift(Path(text).stem, text)
    if not family or not place:
        raise OpenworldError(f"--labelled-shift {text}: expected FILE or FAMILY=FILE, such as fog=fog-3.npz.")
    return NamedShift(family, place)


class Pass:
    """What is kept of one reading; refuses a table without images, or of other classes than `like`."""

    def __init__(self, table: ScoreTable, doing: str, progress: Progress | None = None, like: Outputs | None = None):
        self.table = table
        self.mistakes, self.labelled = 0, 0  # of the images whose labels are known
        self.agreed, self.rounded = 0, 0  # model and reference give one name; probabilities divided by their sums
        self.seen = {SAME: 0, ALIKE: 0}  # images that the model was trained on, as the file says
        self.predicted = np.zeros(1, np.int64)  # [C], how often each class is predicted
        sampler, softmax = Sampler(), 0
        for block in table.scores(doing, progress):
            outputs = block.outputs
            if like is not None and outputs.classes != like.classes:
                raise OpenworldError(
                    f"{table.name} has {outputs.classes} classes and the source {like.classes}; score both with the "
                    "same model for the same class names."
                )
            sampler.add(outputs)
            softmax += int(are_probabilities(outputs.logits).sum())
            self.predicted = self.predicted + np.bincount(outputs.predictions, minlength=outputs.classes)
            self.rounded += block.rounded
            if outputs.labels is not None:
                self.mistakes, self.labelled = self.mistakes + outputs.mistakes, self.labelled + outputs.n
            if outputs.reference is not None:
                self.agreed += int((outputs.reference.argmax(axis=1) == outputs.predictions).sum())
            if block.seen is not None:
                self.seen = {how: count + int((block.seen == how).sum()) for how, count in self.seen.items()}
        if not sampler.n:
            raise OpenworldError(f"{table.name} holds no image; there is nothing to estimate.")
        self.sample, self.outputs = sampler.sample, sampler.sample.outputs
        require_logits(table, softmax, sampler.n)

    @property
    def side(self) -> ScoredSet:
        accuracy = 1 - self.mistakes / self.labelled if self.labelled else None
        return ScoredSet(self.table.name, self.sample.n, self.outputs.classes, accuracy)

    def require_labels(self, why: str) -> None:
        if not self.labelled:
            raise OpenworldError(f"{self.table.name} has no labels; {why}")


def require_logits(table: ScoreTable, softmax: int, n: int) -> None:
    """Refuse logits of which more than chance makes of it are a softmax; one row in many may add up to 1."""
    if softmax == n or softmax >= max(2, SOFTMAX * n):
        rows = "all rows" if softmax == n else f"{softmax:,} of {n:,} rows"
        raise OpenworldError(
            f"the logits of {table.name} are probabilities: {rows} hold no number below 0 and add up to 1 (or to 100, "
            "which is percent); call the columns probabilities, which are read as their logarithms, and keep no logits "
            "among them."
        )


def read_labelled(
    shifts: Sequence[NamedShift], source: Pass, progress: Progress | None = None
) -> Iterator[LabelledShift]:
    """Yield every labelled shift, or a uniform sample of it where it is large; refuse one without labels."""
    for shift in shifts:
        table = open_table([shift.place], title=shift.title, classnames=source.table.classnames)
        reading = Pass(table, "reading labelled shifts", progress, source.outputs)
        reading.require_labels("a labelled shift must say what its images are: add `labels`.")
        yield LabelledShift(table.name, shift.family, reading.outputs, shift.artificial)


def remarks(source: Pass, target: Pass | None = None) -> tuple[str, ...]:
    """Return what is to be said against an estimate, or of a source alone, without capital and full stop."""
    home, new = source.outputs, None if target is None else target.outputs
    said, n = [*check_source(home, new).warnings], source.sample.n
    same, alike = source.seen[SAME], source.seen[ALIKE]
    if are_many(same, n) or same + alike >= ALIKE_SHARE * n:
        said.append(
            f"the model was trained on {same:,} of the {n:,} source images, and on images much like {alike:,} others "
            f"(column {SEEN} of the scores that --out keeps): it is surer and righter there than anywhere, and every "
            "estimate too high; take labelled images that it has not been trained on"
        )
    if new is not None and (home.reference is None) != (new.reference is None):
        lacking = "source" if home.reference is None else "target"
        said.append(f"the {lacking} has no reference, which two views and FRAP need of both: they are left out")
    elif home.reference is not None:
        said += check_reference(home).warnings
    if new is not None and home.partners and new.partners:  # a weaker or stronger one's disagreement says little
        tables = home.logits, home.partners[0]
        model, partner = (float((table.argmax(axis=1) == home.labels).mean()) for table in tables)
        if abs(model - partner) > UNEQUAL:
            said.append(
                f"the first partner names {partner:.1%} of the source right and the model {model:.1%}: GDE compares "
                "models of one recipe, and finds too low an accuracy with a weaker one"
            )
    if not source.sample.whole:
        said.append(f"of {n:,} source images a uniform sample of {len(source.sample.rows):,} is used")
    sides = () if target is None else (source, target)
    for side in sides:
        table, name = side.table, side.table.name
        if side.rounded:
            said.append(
                f"{side.rounded:,} of {side.sample.n:,} rows of probabilities in {name} do not add up to 1, as "
                "rounding leaves them, and were divided by their sums; save more digits"
            )
        if any(layout.classes.order is not None for layout in table.layouts):
            said.append(f"the classes of {name} come in another order and were put in order by their names")
        if table.classnames is None and any(each.table.classnames for each in sides):
            said.append(f"{name} names no classes: they are taken to come in the order of the other side's names")
        unused = table.layouts[0].unused  # of which a name may be misspelt
        if unused:
            said.append(f"columns of {name} that were not used: {', '.join(unused[:8])}")
    return tuple(said)


def checksums(places: Iterable[Any]) -> dict[str, str]:
    """Return the SHA-256 of every file among what somebody named, by its name: facts of a page."""
    paths = [Path(place) for place in places if isinstance(place, str | Path)]
    return {path.name: f"SHA-256 {sha256_of(path)}" for path in paths if path.is_file()}
