"""Labels that arrive when their periods have been counted: intervals that hold, and a correction of later periods.

A sheet is recognised by its content and read once. What the alarm tests is what was found without labels.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openworld._errors import OpenworldError
from openworld.label_free.estimate.late_labels import (
    ROW,
    SHEET,
    ImagesAtHand,
    LateLabels,
    labels_by_period,
    places_of,
    worksheet,
)
from openworld.label_free.watch.fitted import Watch
from openworld.label_free.watch.state import KeptPeriod, SheetRecord, WatchState
from openworld.tables.judged import IMAGE_COLUMNS


class LabelsRead(NamedTuple):
    """What became of a sheet of labels. again: whether it had been read before."""

    state: WatchState
    sheet: SheetRecord
    again: bool


def read_labels(watch: Watch, state: WatchState, late: LateLabels) -> LabelsRead:
    """Let labels speak for the finished periods that they are of; refuse images of no period that is kept."""
    known = [sheet for sheet in state.sheets if sheet.content == late.content]
    if known:
        return LabelsRead(state, known[0], True)
    kept, images = _images(state, late.key)
    places = places_of(late, images.ids)
    own = [label for label, place in enumerate(places) if place is not None]
    _require_kept(state, late, own, [each.number for each in kept])
    spots, first = {}, 0
    for period in kept:
        spots[period.number] = first, len(period.rows), state.records[period.number].sampled is not None
        first += len(period.rows)
    rows = [places[label] for label in own]
    found = labels_by_period(images, late.take(own), rows, spots, watch.outputs.classes, watch.classnames)
    records, left_out = list(state.records), len(places) - len(own)
    sheet = SheetRecord(late.name, late.content, len(late.ids), len(records), tuple(found.items()), left_out)
    for number, labelled in found.items():
        before = records[number].labelled
        # What gives no number takes no place of what did.
        if labelled.accuracy is not None or before is None or before.accuracy is None:
            records[number] = replace(records[number], labelled=labelled)
    return LabelsRead(replace(state, records=tuple(records), sheets=(*state.sheets, sheet)), sheet, False)


def _images(state: WatchState, key: str) -> tuple[list[KeptPeriod], ImagesAtHand]:
    """Return the periods whose images a column names, and their images, one period after the other."""
    named = [(period, period.images(key)) for period in state.kept]
    named = [(period, images) for period, images in named if images is not None]
    if not named:
        has = f"name their images by `{state.kept[-1].key}`" if state.kept else "have no image that is kept"
        raise OpenworldError(
            f"the labels name images by {key}, and the {len(state.kept)} finished periods that are kept {has}; `row` "
            "counts all images of the watch from 0."
        )
    columns = (
        np.concatenate([getattr(images, name) for _, images in named]) for name in ("ids", "predicted", "expected")
    )
    return [period for period, _ in named], ImagesAtHand(*columns)


def _require_kept(state: WatchState, late: LateLabels, own: Sequence[int], kept: Sequence[int]) -> None:
    """Refuse labels of images that were never counted; those of a period that is no longer kept are left out."""
    if len(own) == len(late.ids):
        return
    everything = len(kept) == len(state.records) and all(record.sampled is None for record in state.records)
    if own and not everything:
        return
    unknown = next(name for label, name in enumerate(late.ids.tolist()) if label not in set(own))
    first, last = (state.records[number].label for number in (kept[0], kept[-1]))
    opened = state.opened
    names = () if opened is None else opened.span.first + opened.span.sample.rows if late.key == ROW else opened.images
    waits = names is not None and unknown in set(map(str, names))
    way = (
        "it is of the period that is not finished: give its labels when it is (--close)."
        if waits
        else "labels are read before new files."
    )
    raise OpenworldError(
        f"{len(late.ids) - len(own)} of {len(late.ids)} images of {late.name} are of no finished period that is kept "
        f"({first} to {last}), the first {unknown!r}; {way}"
    )


def proposed_labels(watch: Watch, state: WatchState, n: int) -> tuple[str, str]:
    """Return the name of a worksheet and the sheet: about n images of the last finished period, which tell most."""
    if not state.kept:
        raise OpenworldError("--propose is for the last finished period, and none is kept: finish it with --close.")
    last = state.kept[-1]
    label = re.sub(r"[^\w.-]+", "-", state.records[last.number].label)
    name = f"{Path(SHEET).stem}-{label}{Path(SHEET).suffix}"
    images, key = last.images(last.key), last.key
    named = [period.images(IMAGE_COLUMNS[0]) for period in state.kept]
    names = [one for every in named if every is not None for one in every.ids.tolist()]
    if key != ROW and len(set(names)) < len(names):  # as of cameras that count anew every day
        images, key = replace(last.images(ROW), paths=images.ids), ROW
    return name, worksheet(images, key, n, watch.classnames, seed=watch.settings.seed)
