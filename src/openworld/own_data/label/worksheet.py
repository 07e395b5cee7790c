"""The worksheet that a person fills in, and answers as they come back: from it, or from the page.

A row an image, in the order in which to label: plan (which it belongs to), id, image, as_base and as_new (the names
that the model would give it; with a second model other_as_base and other_as_new), answer and label. Either of the last
two is enough. Answers of the page are plan, id, answer, label and seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld.core.csv_files import csv_text, read_csv
from openworld.core.errors import OpenworldError
from openworld.own_data.label.question import UNSURE, ImageAnswer, Names

NEEDED = ("plan", "id", "answer", "label")


@dataclass(frozen=True)
class GivenAnswers:
    """What is known of the images of a plan."""

    known: Mapping[str, ImageAnswer]  # {id: answer}
    unsure: frozenset[str]  # ids of images that a person could not tell
    seconds: Mapping[str, float]  # {id: how long the answer took}, of answers of the page
    files: tuple[str, ...]  # that they came from

    def __len__(self) -> int:
        return len(self.known) + len(self.unsure)


def worksheet_text(plan: str, ids: Sequence[str], images: Sequence[str], names: Sequence[Names]) -> str:
    """Return the empty worksheet of a plan, by its mark, as CSV."""
    several = len(names[0].as_base) > 1
    closed = not names[0].as_new
    first = ("name", "other_name") if closed else ("as_base", "other_as_base")
    columns = [first[0], *(["as_new"] * (not closed)), *([first[1]] * several)]
    columns += ["other_as_new"] * (several and not closed)
    head = ["plan", "id", "image", *columns, "answer", "label"]
    rows = []
    for number, image, own in zip(ids, images, names, strict=True):
        pairs = [own.as_base[:1], own.as_new[:1], own.as_base[1:], own.as_new[1:]]
        rows.append([plan, number, image, *(name for pair in pairs for name in pair), "", ""])
    return csv_text(head, rows)


def read_answers(
    files: Sequence[Path], names: Mapping[str, Mapping[str, Names]], base_names: Sequence[str], new_names: Sequence[str]
) -> GivenAnswers:
    """Read answers from worksheets and the page; names: {mark: {id: names}} of the images to label."""
    answers: dict[str, Any] = {}
    unsure: set[str] = set()
    seconds: dict[str, float] = {}
    origin: dict[str, str] = {}
    for file in files:
        for number, row in _rows(file, names):
            where = f"{file.name}, row {number}"
            answer = _answer(row, names[row["plan"]][row["id"]], base_names, new_names, where)
            if answer is None:
                continue
            image = row["id"]
            if image in origin and _says(answer) != _says(UNSURE if image in unsure else answers[image]):
                raise OpenworldError(
                    f"{where} answers for id {image!r} otherwise than {origin[image]}; mend one of them."
                )
            origin[image] = where
            if answer == UNSURE:
                unsure.add(image)
            else:
                answers[image] = answer
            if row.get("seconds"):
                seconds[image] = _seconds(row["seconds"], where)
    return GivenAnswers(answers, frozenset(unsure), seconds, tuple(file.name for file in files))


def _says(answer: Any):
    return answer if answer == UNSURE else (answer.base, answer.right)


def _rows(file: Path, names: Mapping[str, Mapping[str, Names]]):
    """Yield (number, row) of a file, checked but for its answers."""
    columns, seen = read_csv(file), {}
    lacking = [name for name in NEEDED if name not in columns]
    if lacking:
        raise OpenworldError(
            f"{file} has no column {' and no '.join(lacking)}; give a worksheet, or answers of a page."
        )
    for number, cells in enumerate(zip(*columns.values(), strict=True), start=2):
        row = dict(zip(columns, cells, strict=True))
        drawn = names.get(row["plan"])
        if drawn is None:
            raise OpenworldError(
                f"{file.name}, row {number} belongs to plan {row['plan']!r}, and this is {' and '.join(names)}; give "
                "the answers to this plan, or the folder of the other."
            )
        if row["id"] not in drawn:
            raise OpenworldError(
                f"{file.name}, row {number}: id {row['id']!r} is none of the {len(drawn)} images that were drawn; ids "
                "and rows stay as the plan wrote them, only answer and label are filled in."
            )
        if row["id"] in seen:
            raise OpenworldError(f"{file.name}: id {row['id']!r} is in rows {seen[row['id']]} and {number}; keep one.")
        seen[row["id"]] = number
        yield number, row


def _answer(row: Mapping[str, str], names: Names, base_names, new_names, where: str) -> ImageAnswer | str | None:
    """Return an answer, UNSURE, or None of a row that is not filled in."""
    code, label = row["answer"], row["label"]
    try:
        from_code = UNSURE if " ".join(code.lower().split()) in (UNSURE, "0") else names.read(code) if code else None
        from_label = names.read_label(label, base_names, new_names) if label else None
    except OpenworldError as error:
        raise OpenworldError(f"{where}: {error}") from error
    if from_label is None or from_code is None:
        return from_code if from_label is None else from_label
    if from_code == UNSURE or (from_code.base, from_code.right) != (from_label.base, from_label.right):
        raise OpenworldError(f"{where}: answer {code!r} and label {label!r} contradict one another; keep one of them.")
    return from_label


def _seconds(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise OpenworldError(f"{where}: seconds is {text!r}, expected a number of seconds; leave it empty, or mend it.")
    return value
