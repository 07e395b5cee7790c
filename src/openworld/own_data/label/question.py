"""The question that a person answers about an image, and what each answer says.

Of an open-world stream: is the image of a base or of a new class, and is the name right that the model would give it as
such? Of a closed-set classifier: is its name right? Where two models are compared, each name that one of them gives is
an answer of its own. A true class name says the same as an answer.

The worksheet has a row an image, in the order in which to label: plan (which it belongs to), id, image, as_base and
as_new (the names that the model would give it; with a second model other_as_base and other_as_new), answer and label.
Either of the last two is enough. Answers of the page are plan, id, answer and label.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from openworld.core.csv_files import csv_text, read_csv
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.names.forms import normalise_class_name

NEEDED = ("plan", "id", "answer", "label")

UNSURE = "cannot tell"
"""What a person answers who sees an image and does not know."""

BASE, NEW = "base", "new"


@dataclass(frozen=True)
class ImageAnswer:
    """What is known of an image."""

    base: bool | None  # None of a closed-set classifier
    right: tuple[bool, ...]  # of every model: of a base image its name as one, of a new image its name as a new one
    label: str = ""  # the true class where a person named it


@dataclass(frozen=True)
class Option:
    """A possible answer."""

    code: str  # what a worksheet holds, such as "base right"
    side: str  # "base", "new", or "" of a closed-set classifier
    name: str  # the name that is right; "" where none of the models' is
    key: int  # that gives it


@dataclass(frozen=True)
class Names:
    """The names that the models give an image; of a closed-set classifier all in `as_base`."""

    as_base: tuple[str, ...]
    as_new: tuple[str, ...] = ()

    @property
    def sides(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return (side, names) of each half."""
        return ((BASE, self.as_base), (NEW, self.as_new)) if self.as_new else (("", self.as_base),)

    def options(self) -> list[Option]:
        """Return the possible answers; those of a second model only where it gives another name."""
        # A key means the same for every image, so that some are free where two models agree.
        choices, key = [], 0
        for side, names in self.sides:
            for place, name in enumerate(names):
                key += 1
                if place == 0 or not same_name(name, names[0]):
                    words = "right" if place == 0 else "other right"
                    choices.append(Option(f"{side} {words}".strip(), side, name, key))
            key += 1
            choices.append(Option(f"{side} wrong".strip(), side, "", key))
        return choices

    def read(self, code: str) -> ImageAnswer:
        """Return what an answer says; a key does as well as the words."""
        options = self.options()
        wanted = " ".join(code.lower().split())
        chosen = next((option for option in options if wanted in (option.code, str(option.key))), None)
        if chosen is None:
            raise unknown_name("answer", code, [*(option.code for option in options), UNSURE])
        names = dict(self.sides)[chosen.side]
        right = tuple(bool(chosen.name) and same_name(name, chosen.name) for name in names)
        return ImageAnswer(None if not chosen.side else chosen.side == BASE, right)

    def read_label(self, label: str, base_names: Sequence[str], new_names: Sequence[str]) -> ImageAnswer:
        """Return what a true class name says."""
        known = {
            normalise_class_name(name): side for side, own in ((NEW, new_names), (BASE, base_names)) for name in own
        }
        side = known.get(normalise_class_name(label))
        if side is None:
            if not known:
                raise OpenworldError(f"there is a label, {label!r}, and the plan knows no class names; use `answer`.")
            raise unknown_name("class name", label, [*base_names, *new_names])
        sides = dict(self.sides)
        names = sides.get(side, sides.get("", ()))
        return ImageAnswer(
            side == BASE if self.as_new else None, tuple(same_name(name, label) for name in names), label
        )


def same_name(one: str, other: str) -> bool:
    """Whether two names are one class's, whatever their case, spaces and underscores."""
    return normalise_class_name(one) == normalise_class_name(other)


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
) -> dict[str, ImageAnswer | None]:
    """Read answers by id, None where a person cannot tell; names: {mark: {id: names}} of the images to label."""
    answers: dict[str, ImageAnswer | None] = {}
    origin: dict[str, str] = {}
    for file in files:
        for number, row in _rows(file, names):
            image, code, label, where = row["id"], row["answer"], row["label"], f"{file.name}, row {number}"
            question, answer = names[row["plan"]][image], None
            try:
                if code and " ".join(code.lower().split()) not in (UNSURE, "0"):
                    answer = question.read(code)
                by_label = question.read_label(label, base_names, new_names) if label else None
            except OpenworldError as error:
                raise OpenworldError(f"{where}: {error}") from error
            if code and label and _says(answer) != _says(by_label):
                raise OpenworldError(
                    f"{where}: answer {code!r} and label {label!r} contradict one another; keep one of them."
                )
            answer = by_label or answer
            if image in origin and (code or label) and _says(answer) != _says(answers[image]):
                raise OpenworldError(
                    f"{where} answers for id {image!r} otherwise than {origin[image]}; mend one of them."
                )
            if code or label:
                origin[image], answers[image] = where, answer
    return answers


def _says(answer: ImageAnswer | None) -> tuple[bool | None, tuple[bool, ...]] | None:
    return None if answer is None else (answer.base, answer.right)


def _rows(file: Path, names: Mapping[str, Mapping[str, Names]]) -> Iterator[tuple[int, dict[str, str]]]:
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
