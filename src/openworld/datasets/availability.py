"""Which parts a data set has, told from names, lists and folders, before any picture is read."""

import glob
from pathlib import Path

from openworld._embeddings import holds_embeddings
from openworld._errors import unknown_name
from openworld._types import checked
from openworld.datasets.cards import DATASETS
from openworld.datasets.formats import embeddings, hub, listing, tars
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.published.openood import BENCHMARKS, TESTED


@checked
def has_part(name: str, part: str, domain: str | None = None) -> bool:
    """Whether a data set has a part; whether that part is whole is for `load` to find out.

    Args:
        name: as for `load`: a data set's, or where your own pictures lie.
        part: "train", "validation" or "test".
        domain: of a picture folder or a list, where it has any.

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
    return any((Path(name) / (domain or "") / own).is_dir() for own in PARTS[part])
