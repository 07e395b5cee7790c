"""Classifiers from a state dict (.pth, .ckpt, .safetensors) or by a name of timm's.

A state dict says which weights there are; the network follows from their names and shapes where they are torchvision's
ResNets and transformers, and from an architecture ("timm:NAME", "package.module:function") otherwise. The number of
classes is that of the head. Tensors alone are read (`weights_only`): a pickled module is refused, since unpickling it
runs code. What the classes are called, and how images are prepared, stands in a JSON file beside it (`describe`);
without one, images are prepared as torchvision or timm state for their weights, and classes are numbered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from openworld.backbones.layouts import read_weights, require_finite
from openworld.backbones.preprocess import RESAMPLING, Preprocess
from openworld.classifiers import _timm
from openworld.classifiers.architectures import build
from openworld.classifiers.classifier import Classifier
from openworld.classifiers.exported import description_of, read_description, require_description
from openworld.classifiers.torchvision_networks import network_of, plain_names
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.datasets.names.forms import are_numbered, numbered_names

ENDINGS = (".pth", ".pth.tar", ".ckpt", ".safetensors")

_SECOND = ("11ad3fa6", "cd907fc2", "f82ba261", "1a0047aa", "110c445d", "173b62eb", "9ba9bcbe", "d733dc28")
"""Hashes in the names of torchvision's files whose images are resized to 232 pixels (IMAGENET1K_V2)."""

_SWAG = "swag"
_RESIZED = {"vit_l_16-852ce7e3": 242}


def is_checkpoint(place: object) -> bool:
    """Whether this names a state dict, or a model of timm's with its weights."""
    name = str(place)
    return name.startswith(_timm.PREFIX) or (name.lower().endswith(ENDINGS) and not Path(name).is_dir())


@checked
def load(place: Path | str, architecture: str | None = None, classnames: Sequence[str] | None = None) -> Classifier:
    """Return the classifier of a state dict, or a model of timm's with its published weights.

    Args:
        place: the file, or "timm:NAME", which timm fetches.
        architecture: "timm:NAME" or "package.module:function" for a state dict that is not torchvision's; "" or None
            to go by its names.
        classnames: C names, in the order of the logits; None for those of the JSON file beside it, else "class 0",
            "class 1" and so on.

    Raises:
        OpenworldError: no such file, a pickled module, weights of another network, class names of another number, no
            way to know how images are prepared.
    """
    if str(place).startswith(_timm.PREFIX):
        network = _timm.create(str(place), pretrained=True)
        return _named(network, str(place), _timm.preprocess_of(network, None), network.num_classes, classnames)
    path = Path(place)
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}; give the path of a state dict, or timm:NAME.")
    own_names, stated = read_description(path) if description_of(path).is_file() else (None, None)
    try:
        weights = plain_names(read_weights([path]))
    except OpenworldError as error:
        raise OpenworldError(
            f"{error} Of a classifier, give its state dict alone: torch.save(model.state_dict(), FILE); a pickled "
            "module can run any code when it is loaded."
        ) from error
    if not weights:
        raise OpenworldError(f"{path} holds no weights; give the state dict of a classifier.")
    network, title, usual = _network(path, weights, architecture or "", stated)
    fill(network, weights, path, title)
    heads = [module for module in network.modules() if isinstance(module, nn.Linear)]
    if not heads:
        raise OpenworldError(f"{path} has no linear layer at its end; bring it as classifiers.Classifier(...).")
    return _named(network, title, stated or usual, heads[-1].out_features, classnames or own_names)


def named_after(classifier: Classifier, classnames: Sequence[str] | None) -> Classifier:
    """Return a classifier whose classes have numbers with class names instead, if there are as many."""
    # The order is that of torchvision's ImageFolder: class folders sorted by name.
    if not classnames or not are_numbered(classifier.classnames) or len(classnames) != len(classifier.classnames):
        return classifier
    return replace(classifier, classnames=tuple(classnames))


def _network(
    path: Path, weights: Mapping[str, Tensor], architecture: str, stated: Preprocess | None
) -> tuple[nn.Module, str, Preprocess]:
    """Return a network for the weights, what it is called, and how its images are prepared."""
    if architecture.startswith(_timm.PREFIX):
        network = _timm.for_weights(architecture, weights)
        return network, architecture, _timm.preprocess_of(network, None)
    if architecture:
        if stated is None:
            require_description(path)
        matrices = [one for name, one in weights.items() if name.endswith("weight") and one.dim() == 2]
        if not matrices:
            raise OpenworldError(f"{path} has no matrix of weights, so no head; give the state dict of a classifier.")
        preprocess: Any = stated  # refused above where it is None
        return build(architecture, matrices[-1].shape[0], preprocess.crop), architecture, preprocess
    try:
        network = network_of(weights)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise OpenworldError(f"{path} is no whole state dict: {error} is missing, or has another shape.") from error
    if network is not None:
        if network.small and stated is None:
            require_description(path)
        return network, network.title, _usual(path, network.side)
    raise OpenworldError(
        f"{path} is no ResNet or vision transformer under torchvision's names of weights (it has {_some(weights)}); "
        "say what it is: --architecture timm:NAME, or package.module:function that returns the network (in Python and "
        "in a spec, architecture beside it)."
    )


def _usual(path: Path, side: int) -> Preprocess:
    """How torchvision prepares images for its own weights, by the name of the file; else for most of them."""
    stem = path.name.split(".")[0]
    if _SWAG in stem:
        return Preprocess(side, side, "shortest", _timm.MEAN, _timm.STD, RESAMPLING["bicubic"])
    resize = _RESIZED.get(stem, 232 if stem.endswith(_SECOND) else 256 if side == 224 else side)
    return Preprocess(resize, side, "shortest", _timm.MEAN, _timm.STD, RESAMPLING["bilinear"])


def fill(network: nn.Module, weights: Mapping[str, Tensor], where: Path | str, title: str) -> None:
    """Load weights into a network, all and no others; counts of batches, which older files lack, may be missing."""
    wanted = network.state_dict()
    missing = [name for name in wanted if name not in weights and not name.endswith("num_batches_tracked")]
    over = [name for name in weights if name not in wanted]
    shapes = [f"{name} {list(weights[name].shape)}, expected {list(tensor.shape)}" for name, tensor in wanted.items()
              if name in weights and weights[name].shape != tensor.shape]  # fmt: skip
    faults = [f"{len(names)} {what} ({_some(names)})" for what, names in
              (("missing", missing), ("left over", over), ("of another shape", shapes)) if names]  # fmt: skip
    if faults:
        raise OpenworldError(f"{where} has other weights than {title}: {'; '.join(faults)}.")
    # Buffers are left out: a mask may hold infinity.
    require_finite({name: weights[name] for name, _ in network.named_parameters()}, str(where))
    network.load_state_dict(weights, strict=False)


def _named(
    network: nn.Module, title: str, preprocess: Preprocess, classes: int, classnames: Sequence[str] | None
) -> Classifier:
    names = numbered_names(classes) if classnames is None else tuple(classnames)
    if len(names) != classes:
        raise OpenworldError(
            f"{title} tells {classes} classes apart, by its head, and {len(names)} class names came; give one for "
            "each, in the order of the logits."
        )
    return Classifier(network, names, preprocess, title)


def _some(names: Sequence[str] | Mapping[str, Tensor], count: int = 3) -> str:
    listed = list(names)
    return ", ".join(listed[:count]) + (f" and {len(listed) - count:,} more" if len(listed) > count else "")
