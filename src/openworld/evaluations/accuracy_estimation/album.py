"""What the conditions look like: a picture or two of each, with how accurate the models are there.

The first record of a run keeps thumbnails by condition. Where all would weigh too much, fewer severities are shown.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from openworld.evaluations.accuracy_estimation.run import Condition, EstimateRun
from openworld.report.data_files import data_address
from openworld.report.page import Album, Kind
from openworld.report.pictures import Shown
from openworld.report.text import percent

BYTES = 250_000  # of the page's 1.5 MB
FOLDER = "pictures/"


def albums(run: EstimateRun) -> list[Album]:
    """One album with the lines of the table as its parts; none where no record keeps pictures."""
    kept = dict(_kept(run))
    if not kept:
        return []
    severities = sorted({run.conditions[place].severity for place in kept} - {None})
    shown = next(one for one in _choices(severities) if _fits(run, kept, one))
    chosen = {place: addresses for place, addresses in kept.items() if _is_shown(run.conditions[place], shown)}
    kinds = tuple(Kind(row, tuple(_pictures(run, chosen, row))) for row in run.rows)
    severity = f"severity {' and '.join(map(str, shown))}" if shown else "none"
    fewer = f" Of corruptions {severity} is shown." if len(shown) < len(severities) else ""
    told = f"A picture or two of every condition, and the mean true accuracy of the judged models there.{fewer}"
    return [Album("The conditions", told, tuple(kind for kind in kinds if kind.pictures))]


def _kept(run: EstimateRun) -> Iterator[tuple[int, list[str]]]:
    """Place of a condition and the addresses of its pictures, of the record that keeps some."""
    for record, told in zip(run.records, run.told, strict=True):
        names = [name for name in getattr(record, "attachments", ()) if name.startswith(FOLDER)]
        for number, target in enumerate(told["targets"] if names else ()):
            place = next(
                p for p, one in enumerate(run.conditions) if (one.row, one.name) == (target["row"], target["name"])
            )
            own = [name for name in names if name.split("/")[1] == str(number)]
            yield place, [data_address("image/png", record.attachment(name)) for name in own]
        if names:
            return


def _choices(severities: Sequence[int]) -> list[list[int]]:
    """Which severities may be shown, most first."""
    ends = sorted({severities[0], severities[len(severities) // 2], severities[-1]}) if severities else []
    return [list(severities), ends, list(severities[-1:]), []]


def _fits(run: EstimateRun, kept: dict[int, list[str]], shown: Sequence[int]) -> bool:
    sizes = [sum(map(len, addresses)) for place, addresses in kept.items() if _is_shown(run.conditions[place], shown)]
    return sum(sizes) <= BYTES or not shown


def _is_shown(condition: Condition, shown: Sequence[int]) -> bool:
    return condition.severity is None or condition.severity in shown


def _pictures(run: EstimateRun, chosen: dict[int, list[str]], row: str) -> Iterator[Shown]:
    for place, addresses in chosen.items():
        condition = run.conditions[place]
        if condition.row == row:
            known = run.accuracy[:, place][np.isfinite(run.accuracy[:, place])]
            told = f"{percent(float(known.mean()))}\u00a0% right"
            for address in addresses:
                yield Shown(address, condition.name, told)
