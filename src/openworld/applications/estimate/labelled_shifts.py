"""Labelled shifts of one's own, as they are named on a command line and as estimators learn from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.applications.estimate.one_pass import Pass, Progress
from openworld.applications.estimate.score_tables import ScoreTable
from openworld.estimators import LabelledShift

CORRUPTIONS = "corruptions"
"""Says instead of a file: corrupted copies of the source's pictures."""


@dataclass(frozen=True)
class NamedShift:
    """Where a labelled shift lies: a file of scores, or pictures; family and artificial as in `LabelledShift`."""

    family: str
    place: str
    artificial: bool = False
    title: str = ""


@dataclass(frozen=True)
class LabelledTable:
    """Scores of a labelled shift; family and artificial as in `LabelledShift`."""

    family: str
    table: ScoreTable
    artificial: bool = False


def named_shift(given: str) -> NamedShift:
    """A labelled shift that was given as FAMILY=PLACE, or as PLACE, whose family is its name without an ending.

    >>> named_shift("night=runs/camera-3.npz").family, named_shift("runs/fog.npz").family
    ('night', 'fog')
    """
    family, equals, place = given.partition("=")
    if not equals or Path(given).exists():
        return NamedShift(Path(given).stem, given)
    if not family or not place:
        raise OpenworldError(f"--labelled-shift {given}: expected FILE or FAMILY=FILE, such as fog=fog-3.npz.")
    return NamedShift(family, place)


def read_labelled(
    shifts: Sequence[LabelledTable], source: Pass, progress: Progress | None = None
) -> Iterator[LabelledShift]:
    """Every labelled shift, or a uniform sample of it where it is large.

    Raises:
        OpenworldError: one without labels, of other classes, or of other class names than the source.
    """
    names = source.table.layout.classnames
    for one in shifts:
        table = one.table
        if names and table.layout.classnames:
            table = table.ordered(names, f"those of {source.table.name}")
        passed = Pass(table, "reading labelled shifts", progress, source.sample.outputs)
        if not passed.labelled:
            raise OpenworldError(
                f"{table.name} has no labels; a labelled shift must say what its images are: add `labels`."
            )
        yield LabelledShift(table.name, one.family, passed.sample.outputs, one.artificial)
