"""From pictures and models to a file of scores, a thousand pictures at a time; what is judged is then the file."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openworld import datasets
from openworld._errors import OpenworldError
from openworld.applications.estimate.columns import SEEN
from openworld.applications.estimate.models import BackboneJudge, Judge
from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.formats import unlabelled_folder
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.templates import PHOTO, TEMPLATES

TOGETHER = 1024  # pictures that are looked at at a time
MADE_OF = b"made of"


@dataclass(frozen=True, eq=False)
class Shown:
    """Pictures that are to be judged. named: whether they come with labels, in their own class names."""

    images: ImageSet
    named: bool

    @property
    def sentence(self) -> str:
        """The sentence for class names that is usual for these pictures."""
        return TEMPLATES.get(self.images.name, PHOTO)

    def labels(self, classnames: Sequence[str]) -> np.ndarray | None:
        """Labels int64[N] as places in other class names; None where there are none.

        Raises:
            OpenworldError: a class that the names lack.
        """
        if not self.named:
            return None
        place = {name: number for number, name in enumerate(classnames)}
        own = self.images.classnames
        lacking = [own[label] for label in np.unique(self.images.labels) if own[label] not in place]
        if lacking:
            raise OpenworldError(
                f"{self.images.name} has {len(lacking)} class(es) that the model does not tell apart, first "
                f"{lacking[0]!r}; it knows {', '.join(classnames[:6])}{', ...' if len(classnames) > 6 else ''}."
            )
        return np.array([place.get(name, -1) for name in own])[self.images.labels]


@dataclass(frozen=True, eq=False)
class Panel:
    """Who looks at the pictures: the judged model, a reference or None, and partners."""

    judged: Judge
    reference: Judge | None = None
    partners: tuple[Judge, ...] = ()

    @property
    def models(self) -> dict[str, Judge]:
        """By the names of their tables in a file of scores."""
        found = {"logits": self.judged, "reference": self.reference}
        found |= {f"partner_{place}": one for place, one in enumerate(self.partners, 1)}
        return {name: one for name, one in found.items() if one is not None}


def is_pictures(where: str) -> bool:
    """Whether this names pictures: a folder, or a data set as NAME[/DOMAIN[/PART]]."""
    return Path(where).is_dir() or (not Path(where).exists() and where.split("/")[0] in DATASETS)


def labelled_pictures(where: str) -> Shown:
    """The pictures of a folder of class folders, or of a data set."""
    if Path(where).is_dir():
        return Shown(_by_class(Path(where)), True)
    name, *rest = where.split("/")
    if len(rest) > 2:
        raise OpenworldError(f"{where!r} has too many parts; expected NAME, NAME/DOMAIN or NAME/DOMAIN/PART.")
    domain, part = [*rest, "", ""][:2]
    return Shown(datasets.load(name, domain=domain or None, part=part or "test"), True)


def _by_class(folder: Path) -> ImageSet:
    parts = {own for names in datasets.folder.PARTS.values() for own in names}
    held = sorted(one.name for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    if held and set(held) <= parts:
        raise OpenworldError(
            f"{folder} holds parts, not classes: {', '.join(held)}; give one of them, {folder / held[0]}."
        )
    return datasets.folder.load(folder)


def target_pictures(where: str, classnames: Sequence[str]) -> Shown:
    """The pictures of a folder or data set; labelled only where every folder there is named like a class."""
    path = Path(where)
    if not path.is_dir():
        return labelled_pictures(where)
    folders = [readable_class_name(one.name) for one in path.iterdir() if one.is_dir() and not one.name.startswith(".")]
    if (folders and set(folders) <= set(classnames)) or (path / "classnames.txt").is_file():
        return labelled_pictures(where)
    return Shown(unlabelled_folder.load(unlabelled_folder.find_pictures([path]), path.resolve().name, path), False)


def made_of(shown: Shown, panel: Panel) -> str:
    """Hex SHA-256 of all that scores depend on: pictures, labels, models, class names and their sentence."""
    digest = hashlib.sha256(shown.images.fingerprint.encode())
    for name, one in panel.models.items():
        digest.update(json.dumps([name, one.fingerprint, one.classnames]).encode())
        if isinstance(one, BackboneJudge):
            digest.update(one.text.numpy().tobytes())
    return digest.hexdigest()


def is_written(path: Path, made: str) -> bool:
    """Whether a file holds scores that are `made_of` these things, to its end."""
    from pyarrow import ArrowInvalid, parquet

    try:
        return (parquet.read_schema(path).metadata or {}).get(MADE_OF) == made.encode()
    except (OSError, ArrowInvalid):
        return False


def write_scores(
    shown: Shown, panel: Panel, path: Path, progress: Callable[[int, int], None] | None = None, *, made: str = ""
) -> None:
    """Let every model look at every picture, and write what they say as Parquet.

    Of labelled pictures, which may be a source, it is written too which of them the judged model was trained on, where
    it knows.

    Args:
        shown: the pictures. panel: the models. path: the file. progress: called with (pictures done, in all). made:
            what `is_written` is to know the file by; "" for nothing.
    Raises:
        OpenworldError: no picture, one that cannot be read, a class that the judged model lacks.
    """
    import pyarrow
    from pyarrow import parquet

    names = panel.judged.classnames
    labels = shown.labels(names)
    if not len(shown.images):
        raise OpenworldError(f"{shown.images.name} holds no picture; there is nothing to estimate.")
    columns = {name: pyarrow.list_(pyarrow.float32(), len(names)) for name in panel.models}
    further = [] if labels is None else ["labels"] + [SEEN] * panel.judged.knows_training
    fields = {"path": pyarrow.string()} | columns | dict.fromkeys(further, pyarrow.int64())
    schema = pyarrow.schema(list(fields.items()), metadata={"classnames": json.dumps(names), MADE_OF: made})
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(shown.images), TOGETHER):
            rows = np.arange(start, min(start + TOGETHER, len(shown.images)))
            arrays = {"path": pyarrow.array(map(shown.images.path_of, rows.tolist()), pyarrow.string())}
            arrays |= {
                name: _lists(one.scores(shown.images.subset(rows)), len(names)) for name, one in panel.models.items()
            }
            if "labels" in further:
                arrays["labels"] = pyarrow.array(labels[rows])
            if SEEN in further:
                arrays[SEEN] = pyarrow.array(panel.judged.find_seen(shown.images.subset(rows)), pyarrow.int64())
            writer.write_batch(pyarrow.record_batch(list(arrays.values()), schema=schema))
            if progress:
                progress(int(rows[-1]) + 1, len(shown.images))


def _lists(scores: np.ndarray, classes: int):
    import pyarrow

    flat = pyarrow.array(np.ascontiguousarray(scores, np.float32).reshape(-1))
    return pyarrow.FixedSizeListArray.from_arrays(flat, classes)
