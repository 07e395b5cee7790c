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
from openworld.label_free.watch.state import SheetRecord, WatchState
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
    named = {period: period.images(late.key) for period in state.kept}
    named = {period: images for period, images in named.items() if images is not None}
    if not named:
        has = f"name their images by `{state.kept[-1].key}`" if state.kept else "have no image that is kept"
        raise OpenworldError(
            f"the labels name images by {late.key}, and the {len(state.kept)} finished periods that are kept {has}; "
            "`row` counts all images of the watch from 0."
        )
    names = ("ids", "predicted", "expected")
    images = ImagesAtHand(*(np.concatenate([getattr(own, name) for own in named.values()]) for name in names))
    places = places_of(late, images.ids)
    own = [label for label, place in enumerate(places) if place is not None]
    _require_kept(state, late, own, [period.number for period in named])
    spots, first = {}, 0
    for period in named:
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


def _require_kept(state: WatchState, late: LateLabels, own: Sequence[int], kept: Sequence[int]) -> None:
    """Refuse labels of images that were never counted; those of a period that is no longer kept are left out."""
    everything = len(kept) == len(state.records) and all(record.sampled is None for record in state.records)
    if len(own) == len(late.ids) or (own and not everything):
        return
    unknown = next(name for label, name in enumerate(late.ids.tolist()) if label not in set(own))
    first, last = (state.records[number].label for number in (kept[0], kept[-1]))
    opened, way = state.opened, "labels are read before new files."
    if opened is not None:
        names = opened.span.first + opened.span.sample.rows if late.key == ROW else opened.images
        if names is not None and unknown in set(map(str, names)):
            way = "it is of the period that is not finished: give its labels when it is (--close)."
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
