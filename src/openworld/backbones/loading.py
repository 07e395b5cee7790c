"""`load`: a model by name, folder or hub id, ready to use.

Weights are read from safetensors in Hugging Face layout (CLIPModel, SiglipModel) or open_clip layout; pickled weights
only when the user allows it, and then with `torch.load(weights_only=True)`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from openworld._errors import OpenworldError, unknown_name
from openworld.backbones import foreign
from openworld.backbones.cards import BACKBONES, SHORT_NAMES
from openworld.backbones.checkpoint_config import described, from_hugging_face, from_open_clip
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.foreign import ForeignEncoder
from openworld.backbones.layouts import load_state
from openworld.backbones.preprocess import read_preprocess
from openworld.backbones.tokenizer import read_tokenizer
from openworld.backbones.two_tower import TwoTower

EMBEDDED = Path(__file__).parent / "embedded"
SMALL_FILES = (
    "config.json",
    "open_clip_config.json",
    "preprocessor_config.json",
    "tokenizer.json",
    "vocab.json",
    "merges.txt",
    "spiece.model",
)


@dataclass(frozen=True)
class WeightFile:
    """One form in which a checkpoint folder may hold its weights, with the configuration that describes them."""

    name: str
    configuration: str
    read_configuration: Callable[[dict], TwoTowerConfig]
    pickled: bool = False


WEIGHT_FILES = (
    WeightFile("model.safetensors", "config.json", from_hugging_face),
    WeightFile("open_clip_model.safetensors", "open_clip_config.json", from_open_clip),
    WeightFile("pytorch_model.bin", "config.json", from_hugging_face, pickled=True),
    WeightFile("open_clip_pytorch_model.bin", "open_clip_config.json", from_open_clip, pickled=True),
)


def load(
    name: str | Path,
    *,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float32,
    allow_pickle: bool = False,
) -> TwoTower | ForeignEncoder:
    """A frozen two-tower model in evaluation mode, with its tokenizer and preprocessing.

    name: "embedded", a folder that holds a checkpoint, a short name of SHORT_NAMES such as "ViT-B/16", or a hub id such
    as "openai/clip-vit-base-patch16", if wanted with a revision ("openai/clip-vit-base-patch16@main");
    "transformers:REPOSITORY" and "open_clip:MODEL/WEIGHTS" are run by these libraries (`backbones.foreign`).
    allow_pickle: also read .bin weights, with `weights_only`.
    Raises OpenworldError for an unknown name (with the nearest known one), a checkpoint that is incomplete, damaged or
    not what its configuration says, and for pickled weights that were not allowed.
    """
    if foreign.is_foreign(str(name)):
        return foreign.load(str(name), device=device, dtype=dtype)
    name = str(name) if Path(name).is_dir() else SHORT_NAMES.get(str(name), str(name))
    folder = _folder(name, allow_pickle)
    form = _weight_form(folder, allow_pickle, name)
    config = described(folder / form.configuration, form.read_configuration)
    tokenizer, preprocess = read_tokenizer(folder, config), read_preprocess(folder)
    if preprocess.crop != config.image.image_size:
        raise OpenworldError(
            f"{folder} prepares pictures of {preprocess.crop} pixels for a model of {config.image.image_size}."
        )
    weights = _read_weights(folder / form.name, form.pickled)
    _require_of_one_model(config, weights, folder / form.name)
    model = TwoTower(config, tokenizer=tokenizer, preprocess=preprocess, name=name)
    load_state(model, weights, _layout(form, config), str(folder / form.name))
    scale = model.log_scale.data
    model.to(device=device, dtype=dtype).requires_grad_(False).eval()
    # Half precision would turn a logit scale of 100 into 98.9.
    model.log_scale.data = scale.to(device, torch.promote_types(dtype, torch.float32))
    return model


def _folder(name: str, allow_pickle: bool) -> Path:
    if name == "embedded":
        return EMBEDDED
    if Path(name).is_dir():
        return Path(name)
    source, _, revision = name.partition("@")
    if source in BACKBONES:
        source = BACKBONES[source].source
    elif source.count("/") != 1 or source.startswith((".", "/", "~")):
        raise unknown_name("backbone (no folder of that name either)", name, BACKBONES)
    return _download(source, revision or None, allow_pickle)


def _download(source: str, revision: str | None, allow_pickle: bool) -> Path:
    """Fetch the small files, then the first form of weights the repository has; nothing else."""
    from huggingface_hub import snapshot_download

    # One form at a time, because repositories often hold the same weights in several.
    wanted = [form.name for form in WEIGHT_FILES if allow_pickle or not form.pickled]
    for file in wanted:
        try:
            folder = Path(snapshot_download(source, revision=revision, allow_patterns=[*SMALL_FILES, file]))
        except (OSError, ValueError) as error:  # what huggingface_hub raises without network or repository
            hint = "" if source in BACKBONES else f" Otherwise: {unknown_name('backbone', source, BACKBONES)}"
            raise OpenworldError(
                f"cannot fetch {source!r} from the hub ({type(error).__name__}: {str(error).splitlines()[0]}); "
                f"check the network, or pass a local folder.{hint}"
            ) from error
        if (folder / file).is_file():
            return folder
    return folder


def _weight_form(folder: Path, allow_pickle: bool, name: str) -> WeightFile:
    present = [form for form in WEIGHT_FILES if (folder / form.name).is_file()]
    readable = [form for form in present if allow_pickle or not form.pickled]
    if readable:
        return readable[0]
    safe = " or ".join(form.name for form in WEIGHT_FILES if not form.pickled)
    if Path(name).is_dir():
        if not present:
            raise OpenworldError(f"{name} holds no {safe}; give a folder that holds a whole checkpoint.")
        raise OpenworldError(
            f"{name} holds no {safe}, only {present[0].name}, which is pickled Python. Convert it once: "
            f"{_conversion(name, present[0])}"
        )
    source = name.partition("@")[0]
    raise OpenworldError(
        f"{name} holds no {safe}; its weights may be there as .bin, which is pickled Python. Name a revision that has "
        f'safetensors, if one of its pull requests adds them ("{source}@refs/pr/NUMBER"), or fetch and convert the '
        f"weights once, and give the folder as the backbone: {_conversion(source, _pickled(folder), fetch=True)}"
    )


def _pickled(folder: Path) -> WeightFile:
    """The pickled form whose configuration lies in a folder; Hugging Face's where none does."""
    forms = [form for form in WEIGHT_FILES if form.pickled]
    return next((form for form in forms if (folder / form.configuration).is_file()), forms[0])


def _conversion(name: str, form: WeightFile, *, fetch: bool = False) -> str:
    """A command that writes pickled weights as safetensors beside them, of a folder, or of a repository to fetch."""
    folder = name.rpartition("/")[2] if fetch else name
    others = "ignore_patterns=['*.h5', '*.msgpack']"
    fetched = f"huggingface_hub.snapshot_download('{name}', local_dir='{folder}', {others})"
    reading = f"torch.load('{folder}/{form.name}', map_location='cpu', weights_only=True)"
    safe = next(one.name for one in WEIGHT_FILES if one.configuration == form.configuration and not one.pickled)
    lines = (
        f"import {'huggingface_hub, ' * fetch}torch, safetensors.torch",
        *([fetched] if fetch else []),
        f"weights = {{key: one.clone() for key, one in {reading}.items()}}",
        f"safetensors.torch.save_file(weights, '{folder}/{safe}')",
    )
    return f'python -c "{"; ".join(lines)}"'


def _require_of_one_model(config: TwoTowerConfig, weights: Mapping[str, Tensor], path: Path) -> None:
    """Refuse a configuration of a much larger model than the weights are of, before memory is taken for it."""
    text, image = config.text, config.image
    described = sum(tower.layers * tower.width * (4 * tower.width + 2 * tower.mlp_width) for tower in (text, image))
    described += text.width * (text.vocabulary + text.positions) + image.width * (
        image.grid**2 + 3 * image.patch_size**2
    )
    held = sum(tensor.numel() for tensor in weights.values())
    if described > 2 * held + 1_000_000:
        raise OpenworldError(
            f"{path} holds {held:,} numbers and its configuration describes a model of {described:,}; "
            "the weights and the configuration are not of one model."
        )


def _layout(form: WeightFile, config: TwoTowerConfig) -> str:
    if form.configuration == "open_clip_config.json":
        return "openai"
    return "hugging_face" if config.family == "clip" else "hugging_face_siglip"


def _read_weights(path: Path, pickled: bool) -> dict[str, Tensor]:
    import pickle

    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return torch.load(path, map_location="cpu", weights_only=True) if pickled else load_file(path)
    except (SafetensorError, pickle.UnpicklingError, EOFError, RuntimeError) as error:
        if pickled:  # what torch says would have people switch its protection off
            raise OpenworldError(
                f"{path} is not a weights-only PyTorch file: it holds something else than tensors, or is damaged. "
                "Nothing of it was run; fetch it again, or take the weights as safetensors."
            ) from error
        reason = str(error).splitlines()[0]
        raise OpenworldError(f"{path} is not a complete safetensors file ({reason}); fetch it again.") from error
