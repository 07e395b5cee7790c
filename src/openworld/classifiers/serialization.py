"""A classifier on disk: weights in safetensors beside a JSON description, no pickle; and hashes of what it has seen."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from torch import nn

from openworld.backbones.preprocess import Preprocess
from openworld.backbones.published_files import not_said
from openworld.classifiers import _timm, checkpoints, exported
from openworld.classifiers.architectures import ARCHITECTURES, build
from openworld.classifiers.classifier import Classifier
from openworld.core.errors import OpenworldError
from openworld.core.functions import FORM
from openworld.core.plain_files import read_plain
from openworld.core.types import checked
from openworld.datasets.training_images import SeenImages
from openworld.runs.atomic import write_file
from openworld.runs.outputs import CLASSIFIER, require_folder
from openworld.runs.sealed import read_saved

WEIGHTS, DESCRIPTION = "weights.safetensors", "classifier.json"
SEEN = "training-images.safetensors"
"""Hashes of the training images, where they are known; folders without them are read all the same."""


@dataclass(frozen=True)
class _Description:
    architecture: str
    classnames: tuple[str, ...]
    preprocess: Preprocess
    history: tuple[dict[str, float], ...]


@checked
def save(classifier: Classifier, folder: Path | str) -> None:
    """Write `files` into a folder, which is made where it is missing."""
    require_folder("folder", Path(folder), own=(CLASSIFIER,))
    for name, content in files(classifier).items():
        write_file(Path(folder) / name, content)


@checked
def files(classifier: Classifier) -> dict[str, bytes]:
    """`weights.safetensors`, `classifier.json` and, where they are known, the training images: {name: bytes}."""
    from safetensors.numpy import save as arrays_to_bytes
    from safetensors.torch import save as to_bytes

    if isinstance(classifier.module, exported.ExportedModule):
        raise OpenworldError(f"{classifier.architecture} is a file already; copy it, and the JSON file beside it.")
    state = {name: tensor.cpu().contiguous().clone() for name, tensor in classifier.module.state_dict().items()}
    description = {
        "architecture": classifier.architecture,
        "classnames": classifier.classnames,
        "preprocess": asdict(classifier.preprocess),
        "history": classifier.history,
    }
    contents = {WEIGHTS: to_bytes(state), DESCRIPTION: json.dumps(description, indent=1).encode()}
    if classifier.seen is not None:
        contents[SEEN] = arrays_to_bytes(vars(classifier.seen))
    return contents


@checked
def load(saved: Path | str | Mapping[str, bytes], *, architecture: str | None = None) -> Classifier:
    """Read back what `save` wrote, a file that other tools export, or a state dict.

    Args:
        saved: the folder, or what `files` gave; or an exported file, as `classifiers.exported` knows them; or a state
            dict or "timm:NAME", as `classifiers.checkpoints` does.
        architecture: what to build, as for `build`; None for what the description says. Where that is
            a function of yours it must be said here again: a folder from elsewhere runs no code unasked. Of an exported
            file "torch.export", for the same reason.

    Raises:
        OpenworldError: no whole classifier there, weights of another network, an architecture that cannot be built.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load as arrays_from_bytes

    if isinstance(saved, str | Path) and checkpoints.is_checkpoint(saved):
        return checkpoints.load(saved, architecture)
    if isinstance(saved, str | Path) and exported.is_exported(saved):
        return exported.load(saved, architecture)
    contents, where = _contents(saved)
    said = read_saved(contents[DESCRIPTION], _Description, f"{where} holds no whole classifier", "save it again.")
    named, names = said.architecture, said.classnames
    if architecture is None and is_foreign(named):
        raise without_function(where, named, "architecture={!r} (in a spec, architecture beside the folder)")
    network = build(architecture or named, len(names), said.preprocess.crop)
    _fill(network, contents[WEIGHTS], where, architecture or named)
    try:
        seen = SeenImages(**arrays_from_bytes(contents[SEEN])) if SEEN in contents else None
    except (SafetensorError, TypeError, OpenworldError) as error:
        raise OpenworldError(f"{where}: {SEEN} is damaged ({error}); delete it, and the rest is read.") from error
    return Classifier(network, names, said.preprocess, architecture or named, said.history, seen)


def is_classifier(place: Path | str) -> bool:
    """Whether `load` reads this: a folder that `save` wrote, an exported file, a state dict, or a name of timm's."""
    return (Path(place) / DESCRIPTION).is_file() or exported.is_exported(place) or checkpoints.is_checkpoint(place)


def function_of(folder: Path | str) -> str:
    """Return the function that builds a saved classifier, or what an exported file must be allowed as; else ""."""
    if checkpoints.is_checkpoint(folder):
        return ""
    if exported.is_exported(folder):
        return kind if (kind := exported.kind_of(folder)) in exported.MAY_RUN_CODE else ""
    try:
        architecture = read_saved(Path(folder) / DESCRIPTION, _Description, "", "").architecture
    except OpenworldError:
        return ""  # `load` says what is wrong with it
    return architecture if is_foreign(architecture) else ""


def without_function(where: str, named: str, remedy: str) -> OpenworldError:
    """Return the error for a classifier whose function was not given; `remedy` has a place for its name."""
    if named in exported.MAY_RUN_CODE:
        return not_said(f"{where} may run code of its own when it is loaded", remedy, named)
    if ":" in named:
        return not_said(f"{where} is to be built by {named!r}, which a file may not start", remedy, named)
    reason = f"{where} says of its network only {named!r}, which nothing here builds"
    return OpenworldError(f"{reason}; name a function: {remedy.format(FORM)}.")


@checked
def from_weights(
    architecture: str, weights: Path | str, classnames: Sequence[str], preprocess: Preprocess | None = None
) -> Classifier:
    """A classifier from a state dict that other code wrote as safetensors.

    Args:
        architecture: as for `build`.
        weights: path of the .safetensors file.
        classnames: C names, in the order of the logits.
        preprocess: how images are prepared; None, for a model of timm's, for what its configuration says.

    Raises:
        OpenworldError: no such file, weights of another network, no preprocessing.
    """
    if preprocess is None and not architecture.startswith(_timm.PREFIX):
        raise OpenworldError(f"say how images are prepared for {architecture!r}: preprocess=Preprocess(...).")
    path, names = Path(weights), tuple(classnames)
    network = build(architecture, len(names), preprocess.crop if preprocess else 224)
    try:
        _fill(network, read_plain(path), str(path), architecture)
    except OSError as error:
        raise OpenworldError(f"{path} cannot be read ({error.strerror}); give a .safetensors file.") from error
    return Classifier(network, names, preprocess or _timm.preprocess_of(network, None), architecture)


@checked
def from_timm(network: nn.Module, classnames: Sequence[str] | None, name: str) -> Classifier | None:
    """A classifier of a model of timm's that is in memory, prepared as its configuration says; None for other models.

    Args:
        network: the model. classnames: C names, in the order of the logits. name: what messages call it.

    Raises:
        OpenworldError: a model of timm's without class names.
    """
    if not _timm.stated_by(network):
        return None
    if classnames is None:
        raise OpenworldError(f"{name} is a model of timm, which does not name its classes; give classnames.")
    return Classifier(network, tuple(classnames), _timm.preprocess_of(network, None), name)


def _contents(saved: Path | str | Mapping[str, bytes]) -> tuple[Mapping[str, bytes], str]:
    if isinstance(saved, Mapping):
        missing = [name for name in (WEIGHTS, DESCRIPTION) if name not in saved]
        if missing:
            raise OpenworldError(f"saved lacks {' and '.join(missing)}; give what `files` made of a classifier.")
        return saved, "what was given"
    folder = Path(saved)
    try:
        names = (WEIGHTS, DESCRIPTION, *([SEEN] if (folder / SEEN).exists() else []))
        return {name: read_plain(folder / name) for name in names}, str(folder)
    except OSError as error:
        raise OpenworldError(
            f"{folder} holds no classifier ({error.strerror}: {error.filename}); give a folder with {WEIGHTS} and "
            f"{DESCRIPTION}, as `save` writes them."
        ) from error


def is_foreign(architecture: str) -> bool:
    """Whether neither we nor timm build it; of timm names alone, since "timm:hf-hub:NAME" is fetched."""
    return architecture not in ARCHITECTURES and not re.fullmatch(rf"{_timm.PREFIX}[\w.]+", architecture)


def _fill(network: nn.Module, content: bytes, where: str, architecture: str) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load as from_bytes

    try:
        weights = from_bytes(content)
    except SafetensorError as error:
        raise OpenworldError(f"{where}: the weights are no whole safetensors file ({error}).") from error
    checkpoints.fill(network, weights, where, architecture)
