"""The question that a person answers about an image, and what each answer says.

Of an open-world stream: is the image of a base or of a new class, and is the name right that the model would give it as
such? Of a closed-set classifier: is its name right? Where two models are compared, each name that one of them gives is
an answer of its own. A true class name says the same as an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.names.forms import normalise_class_name

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
