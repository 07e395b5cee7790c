"""Which pictures of an image set a text file lists: a line per picture, told by the name of its file alone.

So are the 45,000 of ImageNet's validation pictures listed that OpenOOD v1.5 and IS-OOD test on
(`imglist/imagenet1k/test_imagenet.txt` of qqwsad5/IS-OOD @ 7b52db8, "./val/ILSVRC2012_val_00024235.JPEG"), without the
class folders that local copies keep them in.
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.formats.files import first
from openworld.datasets.formats.split_files import read_lines
from openworld.datasets.image_set import ImageSet, file_of


def listed(images: ImageSet, path: str | Path) -> np.ndarray:
    """Return the places int64[M] of the images that a text file lists by file name, in the order of the image set."""
    wanted = [PurePosixPath(line).name for line in read_lines(Path(path))]
    _require_once(wanted, f"{path} lists")
    paths = [file_of(images.read, place) for place in range(len(images))]
    if None in paths:
        raise OpenworldError(f"the images of {images.name!r} are no files, so {path} cannot say which are meant.")
    names = [PurePosixPath(one).name for one in paths]
    _require_once(names, f"{images.name!r} holds")
    missing = sorted(set(wanted) - set(names))
    if missing:
        raise OpenworldError(
            f"{len(missing):,} of the {len(wanted):,} images that {path} lists are not among the {len(names):,} of "
            f"{images.name!r}, such as {first(missing)}; complete the folder, or give the list of this data set."
        )
    kept = set(wanted)
    return np.array([place for place, name in enumerate(names) if name in kept], dtype=np.int64)


def _require_once(names: Sequence[str], who: str) -> None:
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise OpenworldError(f"{who} {twice} twice; a list of files tells images by names that come once.")
