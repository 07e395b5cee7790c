"""What data sets there are, loading one by name, and which parts one has, told before any image is read."""

import glob
from collections.abc import Callable
from pathlib import Path

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked
from openworld.datasets import emoji
from openworld.datasets.emoji.drawings import STYLES
from openworld.datasets.formats import embeddings, folder, hub, listing, tars
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published import downloaded
from openworld.datasets.published.catalogue import BENCHMARKS, PUBLISHED, SHIFTED, DatasetCard
from openworld.datasets.published.openood import TESTED
from openworld.tables.embeddings import holds_embeddings

_STYLES = ("twemoji", *(style for style in STYLES if style != "twemoji"))
_EMBEDDED = {
    f"emoji-{name}": DatasetCard(
        f"emoji-{name}", f"emoji-{name}", "embedded", task.summary, counts=dict.fromkeys(emoji.PARTS),
        domains=_STYLES, group_name="drawing",
    )
    for name, task in emoji.TASKS.items()
}  # fmt: skip

DATASETS: dict[str, DatasetCard] = _EMBEDDED | PUBLISHED | SHIFTED | BENCHMARKS
"""Name -> card of every data set known by name; beside these names, `load` takes what SOURCES lists."""

SOURCES: dict[str, Callable[..., ImageSet]] = {
    "hf:": hub.load,
    ".csv": listing.load,
    ".parquet": listing.load,
    ".npz": embeddings.load,
    ".tar": tars.load,
}
"""How a name that is no data set's begins or ends -> what loads it; anything else is a path to a folder."""


@checked
def load(
    name: str,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """A part of a data set by name, or of your own images.

    Args:
        name: a key of DATASETS; or a path, with a slash in it or lying where you are, to a folder of images
            (`folder`); or a list of images, such as "mine.csv" (`listing`); or embeddings
            that another model made of images, such as "mine.npz" (`embeddings`); or WebDataset shards, such as
            "shards/{part}-*.tar" (`tars`); or a data set of Hugging Face's, such as "hf:user/name" (`hub`).
        root: the folder of all downloaded data sets; None for `$OPENWORLD_DATA`. For a list, the folder that its paths
            are relative to; None for its own. Not looked at for anything else.
        domain: such as a drawing style; None for the data set's first, or only, one.
        part: "train", "validation" or "test".
        shots: training images per class; None for all. Validation images are drawn too where CoOp does so (see
            `downloaded.load`); test images never.
        seed: of that draw.

    Raises:
        OpenworldError: an unknown name, domain or part; `shots` for a part that is not drawn from.

    >>> load("emoji-groups", part="train", shots=4).name
    'emoji-groups'
    """
    card = DATASETS.get(name)
    if shots is not None and part not in (card.drawn_parts if card else ("train",)):
        raise OpenworldError(f"shots are drawn from part 'train', not {part!r}: {part} images are fixed.")
    options = {"domain": domain, "part": part, "shots": shots, "seed": seed}
    if card:
        if card.download:
            return downloaded.load(name, root=root, **options)
        return emoji.load(name.removeprefix("emoji-"), domain or _STYLES[0], part=part, shots=shots, seed=seed)
    if holds_embeddings(name):
        return embeddings.load(name, **options)
    for affix, source in SOURCES.items():
        if name.startswith(affix) or name.endswith(affix):
            return source(name, **options, **({"root": root} if source is listing.load else {}))
    if is_folder(name):
        return folder.load(name, **options)
    raise unknown_name("data set (no folder of that name either)", name, DATASETS)


def is_folder(name: str) -> bool:
    """Whether `load` takes the name for that of a folder of images."""
    known = name in DATASETS or any(name.startswith(affix) or name.endswith(affix) for affix in SOURCES)
    return not known and (Path(name).is_dir() or len(Path(name).parts) > 1)


@checked
def has_part(name: str, part: str, domain: str | None = None) -> bool:
    """Whether a data set has a part; whether that part is whole is for `load` to find out.

    Args:
        name: as for `load`: a data set's, or where your own images lie.
        part: "train", "validation" or "test".
        domain: of an image folder or a list, where it has any.

    Raises:
        OpenworldError: an unknown part, a list that cannot be read, a hub's data set that cannot be had.

    >>> has_part("emoji-concepts", "validation"), has_part("imagenet", "validation")
    (True, False)
    """
    if part not in PARTS:
        raise unknown_name("part", part, PARTS)
    if name in BENCHMARKS and domain:
        return part == TESTED
    if name in DATASETS:
        return part in DATASETS[name].parts
    if name.startswith(hub.PREFIX):
        return bool(set(PARTS[part]) & set(hub.splits(name)))
    if holds_embeddings(name):
        return part in embeddings.parts(name)
    if name.endswith((".csv", ".parquet")):
        return part in listing.parts(name, domain)
    if name.endswith(".tar"):
        return any(glob.glob(one) for one in tars.patterns(name, part))
    return any((Path(name) / (domain or "") / place).is_dir() for place in PARTS[part])
