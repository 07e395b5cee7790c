"""Reading an open-world stream, block by block, with a check of every column."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from openworld._arrays import as_fractions
from openworld._errors import OpenworldError
from openworld._score_files import Columns, ScoreFile, open_scores
from openworld.applications.open_world_stream.columns import LOGITS, REFERENCES, StreamColumns, stream_columns
from openworld.applications.open_world_stream.names import BASE, NEW, StreamNames, one_entry, stream_labels, texts
from openworld.applications.open_world_stream.stream import PER_IMAGE, PROXIES, OpenWorldStream

SCORE, SIDE, LABEL = "score", "side", "label"
ANSWERS = {"base_name": BASE, "new_name": NEW, "joint_name": ""}
FILLED = (*ANSWERS, "id", "group")
KNOWN = (SCORE, SIDE, LABEL, *ANSWERS, *PROXIES, *PER_IMAGE)
_SAME = 1e-4  # of the largest logit: how far the logit of a name that the file gives may lie below it
_ROUNDED = 1e-4  # how far a part of a probability may exceed the whole

Source = Path | str | ScoreFile


def read_stream(
    source: Source | Sequence[Source],
    *,
    base_names: Sequence[str] | None = None,
    logits: bool = True,
    progress: Callable[[int], None] | None = None,
) -> OpenWorldStream:
    """Read a stream: a file, arrays as `scores_of` gives them, or several; without `logits` scores and names alone."""
    sources = [source] if isinstance(source, str | Path | ScoreFile) else list(source)
    files = [open_scores(one) for one in sources]
    if not files:
        raise OpenworldError("no file of a stream came; give one.")
    reading = _Reading(files[0], base_names, logits)
    for file in files:
        reading.read(file, progress)
    return reading.stream(files[0].path.name + f" and {len(files) - 1} more" * (len(files) > 1))


class _Reading:
    """The columns of a stream as they are gathered."""

    def __init__(self, file: ScoreFile, base_names: Sequence[str] | None, keep: bool):
        self.first, self.base_names, self.keep = file, base_names, keep
        self.layout = stream_columns(file, base_names)
        _require_columns(file, self.layout)
        sides = (BASE, NEW) if self.layout.columns else (BASE,) * (base_names is not None)
        self.names = StreamNames(self.layout.base_names, self.layout.new_names, sides)
        self.parts: dict[str, list[np.ndarray]] = {}
        self.count = 0

    def read(self, file: ScoreFile, progress: Callable[[int], None] | None) -> None:
        """Take in the rows of a file."""
        layout = stream_columns(file, self.base_names)
        own = [name for name in file.columns if name in KNOWN]
        if (set(own), layout.base_names, layout.new_names) != (
            set(self.first.columns) & set(KNOWN),
            self.layout.base_names,
            self.layout.new_names,
        ):
            raise OpenworldError(
                f"{file.path} has other columns or class names than {self.first.path}; files that follow each other "
                "are alike."
            )
        row = 0
        for block in file.blocks([*layout.used, *own], scores=[*layout.used, SCORE, *PROXIES], filled=FILLED):
            count = len(next(iter(block.values())))
            where = f"{file.path.name}, row {row:,}"
            try:
                self._take(block, layout, file)
            except OpenworldError as error:
                raise OpenworldError(f"{where} ({count:,} rows from there): {error}") from error
            row, self.count = row + count, self.count + count
            if progress:
                progress(self.count)

    def _take(self, block: Columns, layout: StreamColumns, file: ScoreFile) -> None:
        matrices = {name: layout.matrix(block, name) for name in layout.columns}
        joint, base = matrices.get("logits"), len(layout.base_names)
        if joint is not None:
            matrices.setdefault("base_logits", joint[:, :base])
            matrices.setdefault("new_logits", joint[:, base:])
        found = {SCORE: largest_base_log_probability(joint, base)} if SCORE not in block else {}
        if SCORE in block:
            found[SCORE] = one_entry(block[SCORE], SCORE, file).astype(np.float64)
        found |= {name: as_fractions(block[name], f"column {name}") for name in PROXIES if name in block}
        found |= {name: one_entry(block[name], name, file) for name in (*PER_IMAGE, SIDE, LABEL) if name in block}
        for name, logits in zip(ANSWERS, ("base_logits", "new_logits", "logits"), strict=True):
            if name in block or logits in matrices:
                found[name] = self._answer(name, block, matrices.get(logits), file)
        if self.keep:  # a half of the logits is a view of them, made once they are whole
            found |= {name: matrices[name] for name in layout.columns}
        for name, values in found.items():
            self.parts.setdefault(name, []).append(values)

    def _answer(self, name: str, block: Columns, logits: np.ndarray | None, file: ScoreFile) -> np.ndarray:
        """Return the names that images are given: as places, or as text while their places are not known."""
        if name not in block:
            return logits.argmax(axis=1)
        spelled = texts(block[name], name, file)
        if logits is None and name == "joint_name":
            return spelled
        places = (
            self.names.joint_numbers(spelled) if name == "joint_name" else self.names.numbers(ANSWERS[name], spelled)
        )
        if logits is not None:
            _require_largest(logits, places, name)
        return places

    def stream(self, name: str) -> OpenWorldStream:
        """Return all that was read, checked as a whole."""
        if not self.count:
            raise OpenworldError(f"{self.first.path} has columns and no row; it needs a row per image.")
        whole = {part: np.concatenate(self.parts.pop(part)) for part in list(self.parts)}
        answers = whole["base_name"], whole["new_name"]
        order = self.layout.order.get("logits")
        labels = stream_labels(whole.get(SIDE), whole.get(LABEL), self.names, answers, self.first, order)
        self.names.require_sides(self.first.path)
        joint = whole.get("joint_name")
        if joint is not None and joint.dtype == object:
            joint = self._joint(joint)
        proxies = {part: whole[part] for part in PROXIES if part in whole}
        columns = {part: whole[part] for part in PER_IMAGE if part in whole}
        _require_parts(proxies, name)
        ids = columns.get("id")
        if ids is not None and len(set(ids.tolist())) < len(ids):
            again = int(np.setdiff1d(np.arange(len(ids)), np.unique(ids, return_index=True)[1])[0])
            raise OpenworldError(f"id {ids[again]!r} of {name} comes again in row {again}; an id is one image.")
        logits, base = whole.get("logits"), len(self.layout.base_names)
        reference = next((name for name in REFERENCES if name in whole), "reference")
        halves = {half: whole.get(half) for half in ("base_logits", "new_logits")}
        if logits is not None:
            for half, own in (("base_logits", logits[:, :base]), ("new_logits", logits[:, base:])):
                halves[half] = own if halves[half] is None else halves[half]
        return OpenWorldStream(
            name=name,
            scores=whole[SCORE],
            base_names=tuple(self.names.spelled[BASE]),
            new_names=tuple(self.names.spelled[NEW]),
            base_prediction=answers[0],
            new_prediction=answers[1],
            joint_prediction=joint,
            logits=logits,
            **halves,
            reference=whole.get(reference),
            reference_kind=REFERENCES[reference],
            proxies=proxies,
            columns=columns,
            labels=labels,
        )

    def _joint(self, spelled: np.ndarray) -> np.ndarray:
        places = self.names.joint_numbers(spelled)
        lacking = np.flatnonzero(places < 0)
        if lacking.size:
            raise OpenworldError(
                f"column joint_name of {self.first.path} holds {spelled[lacking[0]]!r}, which is in no row of "
                "base_name or new_name, so that its side is not known; give all base names (--base-names FILE)."
            )
        return places


def _require_columns(file: ScoreFile, layout: StreamColumns) -> None:
    needed = [SCORE] if set(layout.columns) & set(LOGITS) else [SCORE, "base_name", "new_name"]
    lacking = [name for name in needed if name not in file.columns and "logits" not in layout.columns]
    if lacking:
        raise OpenworldError(
            f"{file.path} lacks {', '.join(lacking)}; a stream has logits over base names, then new names; or score, "
            f"and base_logits and new_logits, or base_name and new_name. Its columns: {', '.join(file.columns)}."
        )


def largest_base_log_probability(logits: np.ndarray, base: int) -> np.ndarray:
    """Return the default detection score float64[n]: the log of the largest base softmax over all names."""
    wide = np.asarray(logits, np.float64)
    largest = wide.max(axis=1)
    total = np.log(np.exp(wide - largest[:, None]).sum(axis=1))
    return wide[:, :base].max(axis=1) - largest - total


def _require_largest(logits: np.ndarray, places: np.ndarray, name: str) -> None:
    largest = logits.max(axis=1)
    own = np.take_along_axis(logits, np.maximum(places, 0)[:, None], axis=1)[:, 0]
    against = np.flatnonzero((places < 0) | (own < largest - _SAME * np.maximum(1, np.abs(largest))))
    if against.size:
        raise OpenworldError(
            f"column {name} is not the name of the largest logit in {against.size} row(s), first {against[0]} rows "
            "below; leave the column out, or give the logits that it was taken from."
        )


def _require_parts(proxies: Mapping[str, np.ndarray], name: str) -> None:
    """Refuse P(base and right) above P(base), and P(new and right) above 1 - P(base)."""
    if "base" not in proxies:
        return
    most = {"base_right": proxies["base"], "new_right": 1 - proxies["base"]}
    for part in most.keys() & proxies.keys():
        above = np.flatnonzero(proxies[part] > most[part] + _ROUNDED)
        if above.size:
            whole = "base" if part == "base_right" else "1 - base"
            raise OpenworldError(
                f"column {part} of {name} exceeds {whole} in {above.size} row(s), first in row {above[0]} (from 0); it "
                f"is the probability that the image is {part.partition('_')[0]} and its name right."
            )
