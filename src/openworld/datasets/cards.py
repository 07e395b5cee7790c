"""What data sets there are, and loading one by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import emoji, folder
from openworld.datasets.drawings import STYLES
from openworld.datasets.image_set import ImageSet


@dataclass(frozen=True)
class DatasetCard:
    """One data set, for people and programs.

    Args:
        summary: one line.
        domains: what `domain` may be, the default first.
        parts: what `part` may be.
        load: gives an image set; takes `domain`, `part`, `shots` and `seed`.
        group_name: what pictures of one group share, such as "drawing"; "" where all pictures are independent.
    """

    summary: str
    domains: tuple[str, ...]
    parts: tuple[str, ...]
    load: Callable[..., ImageSet]
    group_name: str = ""


def _load_emoji(task: str, *, domain: str | None = None, **options) -> ImageSet:
    return emoji.load(task, domain or _EMOJI_DOMAINS[0], **options)


_EMOJI_DOMAINS = ("twemoji", *(style for style in STYLES if style != "twemoji"))

DATASETS: dict[str, DatasetCard] = {
    f"emoji-{name}": DatasetCard(
        task.summary, _EMOJI_DOMAINS, emoji.PARTS, partial(_load_emoji, name), group_name="drawing"
    )
    for name, task in emoji.TASKS.items()
}
"""Name -> card of every data set that comes with openworld; beside these names, `load` takes paths to folders."""


def load(
    name: str,
    *,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """A part of a data set by name, or of a folder of pictures by path.

    Args:
        name: a key of DATASETS, or a path to a folder (see `folder`), with a slash in it or lying where you are.
        domain: such as a drawing style; None for the data set's first, or only, one.
        part: "train", "validation" or "test".
        shots: training pictures per class; None for all. Only "train" is ever drawn from.
        seed: of that draw.

    Raises:
        OpenworldError: an unknown name, domain or part; `shots` for another part than "train".

    >>> load("emoji-groups", part="train", shots=4).name
    'emoji-groups'
    """
    if shots is not None and part != "train":
        raise OpenworldError(f"shots are drawn from part 'train', not {part!r}: test pictures are fixed.")
    options = {"domain": domain, "part": part, "shots": shots, "seed": seed}
    if name in DATASETS:
        return DATASETS[name].load(**options)
    if Path(name).is_dir() or len(Path(name).parts) > 1:
        return folder.load(name, **options)
    raise unknown_name("data set", name, DATASETS)
