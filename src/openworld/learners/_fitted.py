"""A learner bound to what it learned; how it is fitted on cached embeddings, saved and loaded."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from openworld._errors import OpenworldError, unknown_name
from openworld.features import Features
from openworld.learners._bank import Names, Subset, TextBank, require_distinct
from openworld.learners._settings import configure
from openworld.learners._training import train


@dataclass(frozen=True)
class Fitted:
    """What `fit` returns.

    Args:
        learner: the settings it was fitted with.
        clip: the frozen backbone.
        classnames: the training names, in label order.
        parameters: learned tensors by name.
        history: mean loss terms of each epoch.
    """

    learner: object
    clip: object
    classnames: tuple[str, ...]
    parameters: dict[str, Tensor]
    history: tuple[dict[str, float], ...] = ()

    @property
    def tuned_parameters(self) -> int:
        """How many numbers were learned."""
        return sum(tensor.numel() for tensor in self.parameters.values())

    @torch.no_grad()
    def text_bank(self, base_names, new_names=()) -> TextBank:
        """Encode names once, with this learner's prompts.

        Args:
            base_names: names to be told apart among base images, at least one; usually `classnames`.
            new_names: names to be told apart among new images; may be empty.

        Raises:
            OpenworldError: no base name, an empty name, two names that prompts cannot tell apart, a name too long.
        """
        names = Names(tuple(base_names), tuple(new_names), self.classnames)
        return self.learner.text_bank(self.clip, self.parameters, names)

    @torch.no_grad()
    def logits(self, features: Features, bank: TextBank, subset: Subset = "all") -> np.ndarray:
        """Logits of encoded images, logit scale included.

        Args:
            features: N images, encoded with this backbone.
            bank: of `text_bank`.
            subset: "base", "new" or "all" (base names, then new names).

        Returns:
            float32[N, C], C the number of names of the subset.

        Raises:
            OpenworldError: an unknown subset, or features of another width than the backbone's.
        """
        embeddings = embeddings_of(features, self.clip)
        return self.learner.logits(embeddings, bank, subset).float().cpu().numpy()

    @torch.no_grad()
    def baseness(self, features: Features, bank: TextBank) -> np.ndarray:
        """The detection score of encoded images: float32[N], at most 0, larger = more like a base class.

        Arguments and errors are those of `logits`.
        """
        return self.learner.baseness(embeddings_of(features, self.clip), bank).float().cpu().numpy()

    def save(self, folder: Path) -> None:
        """Write `parameters.safetensors` and `learner.json`; the backbone is named, not copied."""
        from safetensors.torch import save_file

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: tensor.contiguous() for name, tensor in self.parameters.items()},
            folder / "parameters.safetensors",
        )
        description = {
            "learner": self.learner.name,
            "settings": asdict(self.learner),
            "classnames": self.classnames,
            "backbone": self.clip.name,
            "backbone_fingerprint": self.clip.fingerprint,
            "history": self.history,
        }
        (folder / "learner.json").write_text(json.dumps(description, indent=1), encoding="utf-8")


def load(folder: Path, clip) -> Fitted:
    """Read back what `Fitted.save` wrote.

    Args:
        folder: where it was saved.
        clip: the backbone it was fitted on, on any device.

    Raises:
        OpenworldError: a folder without a saved learner or with a damaged one, another backbone, an unknown learner.
    """
    from openworld.learners import LEARNERS

    folder = Path(folder)
    description, parameters = _read_saved(folder, str(clip.device))
    if description["backbone_fingerprint"] != clip.fingerprint:
        raise OpenworldError(
            f"{folder} was fitted on backbone {description['backbone']!r} with other weights than {clip.name!r}; "
            "load that backbone."
        )
    if description["learner"] not in LEARNERS:
        raise unknown_name("learner", description["learner"], LEARNERS)
    learner = configure(LEARNERS[description["learner"]], description["settings"])
    return Fitted(learner, clip, tuple(description["classnames"]), parameters, tuple(description["history"]))


def fit_on_embeddings(learner, clip, features, *, seed: int) -> Fitted:
    """Train a learner whose images enter as cached global embeddings.

    Args:
        learner: offers `start`, `prepare`, `loss`, `schedule` and `consumes` ("embeddings", or "views" for one
            augmented view of each image and epoch, drawn from those that were encoded).
        clip: the frozen backbone.
        features: `openworld.features.Features` of the training images.
        seed: of initial prompts, shuffles and draws of views.

    Raises:
        OpenworldError: no image, names that prompts cannot tell apart, features of another backbone's width or without
            the views that the learner trains on, a loss that is not finite.
    """
    if not len(features):
        raise OpenworldError(f"there is no image to fit {learner.name} on; give at least one shot of a class.")
    require_distinct(features.classnames)
    generator = torch.Generator().manual_seed(seed)
    parameters = learner.start(clip, features.classnames, generator)
    for tensor in parameters.values():
        tensor.requires_grad_(True)
    prepared = learner.prepare(clip, features.classnames)

    def loss(embeddings, labels):
        return learner.loss(clip, parameters, embeddings, labels, prepared)

    sample = _sampler(learner, clip, features, generator)
    history = train(parameters, loss, sample, len(features), learner.schedule, generator)
    frozen = {name: tensor.detach() for name, tensor in parameters.items()}
    return Fitted(learner, clip, tuple(features.classnames), frozen, history)


def embeddings_of(features: Features, clip) -> Tensor:
    """float[N, D] on the backbone's device, never in half precision; features of another width raise."""
    found, expected = features.embeddings.shape[1], clip.config.joint_dimension
    if found != expected:
        raise OpenworldError(
            f"the features have {found} dimensions, but {clip.name!r} gives {expected}; encode the images with it."
        )
    return _wide(features.embeddings, clip)


def _wide(array: np.ndarray, clip) -> Tensor:
    return torch.as_tensor(np.asarray(array), device=clip.device, dtype=torch.promote_types(clip.dtype, torch.float32))


def _read_saved(folder: Path, device: str) -> tuple[dict, dict[str, Tensor]]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        description = json.loads((folder / "learner.json").read_text(encoding="utf-8"))
        return description, load_file(folder / "parameters.safetensors", device=device)
    except (OSError, ValueError, SafetensorError) as error:
        raise OpenworldError(
            f"{folder} holds no whole learner ({error}); give a folder that `Fitted.save` wrote, or fit it again."
        ) from error


def _sampler(learner, clip, features, generator: torch.Generator):
    labels, embeddings = torch.as_tensor(features.labels, device=clip.device), embeddings_of(features, clip)
    if learner.consumes == "views" and features.views is None:
        raise OpenworldError(
            f"{learner.name} trains on augmented views and the features hold none; encode with Encoding(views=...)."
        )
    if learner.consumes == "views":
        views = _wide(features.views, clip)

        def sample(rows):
            drawn = torch.randint(views.shape[1], (len(rows),), generator=generator)
            return views[rows, drawn], labels[rows]

        return sample
    return lambda rows: (embeddings[rows], labels[rows])
