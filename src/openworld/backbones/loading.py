"""`load`: a model by name, folder or hub id, ready to use.

Weights are read in the layouts of Hugging Face (CLIPModel, SiglipModel) and of open_clip; the files of each are listed
in `published_files`. Only tensors are read of any of them, and nothing of a file is run. A hub repository is read from
the hub cache where it is whole there, else one form of its weights is fetched.
"""

from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor

from openworld.backbones.checkpoint_config import from_hugging_face, from_open_clip, read_description
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.devices import DTYPES, Precision, require_device
from openworld.backbones.foreign.encoder import ForeignEncoder
from openworld.backbones.layouts import load_state, read_pickled, read_weights
from openworld.backbones.names import (
    BACKBONES,
    LIBRARIES,
    QUICK_GELU_UNSAID,
    is_embeddings,
    is_foreign,
    known_name,
    local_path,
)
from openworld.backbones.preprocess import read_preprocess
from openworld.backbones.published_files import (
    CONFIGURATIONS,
    EMBEDDED,
    FORMS,
    OPENAI,
    SMALL_FILES,
    VOCABULARY,
    Form,
    cached_folders,
    checkpoint_files,
    files_of,
    hub_id,
    weight_form,
    whole_form,
)
from openworld.backbones.tokenizer import Tokenizer, read_tokenizer
from openworld.backbones.towers import Unfilled
from openworld.backbones.two_tower import TwoTower
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked

_OPENAI_VOCABULARY = 49408
_READ = {"hugging_face": from_hugging_face, "open_clip": from_open_clip}


@checked
def load(
    name: str | Path, *, device: str | torch.device = "cpu", dtype: torch.dtype = torch.float32
) -> TwoTower | ForeignEncoder:
    """A frozen two-tower model in evaluation mode, with its tokenizer and preprocessing.

    name: "embedded"; a folder that holds a checkpoint; a .pt file of an open_clip training; what papers, OpenAI or
    open_clip call a model ("ViT-B/16", "ViT-B-16/laion2b_s34b_b88k"); or a hub id such as
    "openai/clip-vit-base-patch16", if wanted with a revision ("openai/clip-vit-base-patch16@main"); `needed_files` says
    which files are looked for and where. "transformers:REPOSITORY" and "open_clip:MODEL/WEIGHTS" are run by these
    libraries, "package.module:function" is what a function of your own returns, and a .npz or .parquet file holds
    embeddings of class names (`backbones.foreign`).
    Raises OpenworldError for an unknown name (with the nearest known one), a checkpoint that is incomplete, damaged or
    not what its configuration says, and for towers that are not ours.
    """
    require_device(str(device))
    if is_foreign(str(name)):
        library, _, source = str(name).partition(":")
        if library not in LIBRARIES or is_embeddings(str(name)):
            return import_module("openworld.backbones.foreign.of_objects").load(str(name))
        model = import_module("openworld.backbones.foreign.of_libraries").LOADERS[library](source, str(name))
        return ForeignEncoder(str(name), model, device, dtype)
    name = known_name(name)
    path = EMBEDDED if name == "embedded" else local_path(name)
    if path.is_dir():
        model = _from_folder(path, name)
    elif path.suffix == ".pt":
        model = _from_checkpoint(path, name)
    else:
        source, revision = hub_id(name)
        model = _from_folder(repository_folder(source, revision), name)
    scale = model.log_scale.data
    model.to(device=device, dtype=dtype).requires_grad_(False).eval()
    # Half precision would turn a logit scale of 100 into 98.9.
    model.log_scale.data = scale.to(device, torch.promote_types(dtype, torch.float32))
    return model


@lru_cache(maxsize=2)
def load_once(name: str, device: str = "cpu", precision: Precision = "float32"):
    return load(name, device=device, dtype=DTYPES[precision])


def _from_folder(folder: Path, name: str) -> TwoTower:
    form = weight_form(folder, [path.name for path in folder.iterdir()])
    if form is None:
        for other in FORMS:
            if files_of(folder, other.files) and not (folder / CONFIGURATIONS[other.layout]).exists():
                raise OpenworldError(f"{folder} holds weights but no {CONFIGURATIONS[other.layout]} to describe them.")
        names = ", ".join(other.files[0] for other in FORMS)
        raise OpenworldError(f"{folder} holds no weights ({names}); give a folder that holds a whole checkpoint.")
    config = read_description(folder / CONFIGURATIONS[form.layout], _READ[form.layout])
    if name.partition("@")[0] in QUICK_GELU_UNSAID:
        towers = {part: replace(getattr(config, part), activation="quick_gelu") for part in ("text", "image")}
        config = replace(config, **towers)
    files = files_of(folder, form.files)
    return _built(name, config, read_weights(files), form.layout, files[0])


def _from_checkpoint(path: Path, name: str) -> TwoTower:
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}; give the weights' path, or a name of a model.")
    weights, beside = read_pickled(path), path.parent / CONFIGURATIONS["open_clip"]
    if not beside.is_file():
        raise OpenworldError(
            f"{path} holds weights alone, which do not tell their activation; put {beside.name} beside it."
        )
    return _built(name, read_description(beside, from_open_clip), weights, "open_clip", path)


def _openai_tokenizer(path: Path, config: TwoTowerConfig) -> Tokenizer:
    """CLIP's vocabulary: beside an archive, in OpenAI's or open_clip's package, in the hub cache, or from the hub."""
    files = checkpoint_files(path).needs[2].found
    if files:
        return read_tokenizer(files[0].parent, config)
    source = OPENAI[0]
    try:
        from huggingface_hub import snapshot_download

        return read_tokenizer(Path(snapshot_download(source, allow_patterns=list(SMALL_FILES))), config)
    except (OSError, ValueError) as error:
        raise OpenworldError(
            f"{path} holds no vocabulary, and none is on this machine nor can be fetched; put {VOCABULARY} of OpenAI's "
            f"package, or the tokenizer.json of {source}, into {path.parent}."
        ) from error


def _built(name: str, config: TwoTowerConfig, weights: dict[str, Tensor], layout: str, path: Path) -> TwoTower:
    """Return the model of weights that were read from a file, with tokenizer and preprocessing beside it."""
    text, image, preprocess = config.text, config.image, read_preprocess(path.parent, layout)
    # open_clip brings CLIP's vocabulary along, and need not keep it beside the weights.
    brought = path.suffix == ".pt" or (layout == "open_clip" and text.vocabulary == _OPENAI_VOCABULARY)
    tokenizer = _openai_tokenizer(path, config) if brought else read_tokenizer(path.parent, config)
    if preprocess.crop != image.image_size:
        raise OpenworldError(
            f"{path.parent} prepares images of {preprocess.crop} pixels for a model of {image.image_size}."
        )
    # A configuration of a much larger model than the weights are of is refused before memory is taken for it.
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
    if tokenizer.pad_token is not None:
        config = replace(config, text=replace(text, pad_token=tokenizer.pad_token))
    if layout == "hugging_face":
        layout = "hugging_face" if config.family == "clip" else "hugging_face_siglip"
    else:
        # Where open_clip keeps the text tower as a part of its own, the names are OpenAI's behind "text.".
        weights, layout = {key.removeprefix("text."): tensor for key, tensor in weights.items()}, "openai"
    with Unfilled():
        model = TwoTower(config, tokenizer=tokenizer, preprocess=preprocess, name=name)
    load_state(model, weights, layout, str(path))
    return model


_CONVERTER = "SFconvertbot"  # the hub's own conversion service; requests of anybody else could hold any weights


def repository_folder(source: str, revision: str | None) -> Path:
    """Return a folder that holds the weights of a repository in one form, and its small files."""
    # Without a revision it is main, or the conversion of main.
    for folder in cached_folders(source, revision):
        if whole_form(folder):
            return folder
    try:
        return _fetch(source, revision)
    except OpenworldError:
        raise
    except Exception as error:  # the errors of the hub's HTTP library differ with its version
        hint = "" if source in BACKBONES else f" Otherwise: {unknown_name('backbone', source, BACKBONES)}"
        raise OpenworldError(
            f"cannot fetch {source!r} from the hub ({type(error).__name__}: {(str(error) or '-').splitlines()[0]}); "
            f"check the network, or pass a local folder: `openworld doctor {source}` says what must lie in it."
            f"{hint}"
        ) from error


def _fetch(source: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(source, revision=revision, allow_patterns=list(SMALL_FILES)))
    form = weight_form(folder, _names(source, revision))
    if revision is None and (form is None or form.pickled):
        revision, form = _conversion(source, folder) or (None, form)
    if form is None:
        raise OpenworldError(
            f"{source!r} has no weights of two towers with the configuration that describes them; it may hold an image "
            "tower alone, or another kind of model."
        )
    return Path(snapshot_download(source, revision=revision, allow_patterns=[*SMALL_FILES, *form.files]))


def _conversion(source: str, folder: Path) -> tuple[str, Form] | None:
    """The revision in which the hub's service converted the weights, and their form; None without one."""
    from huggingface_hub import HfApi

    try:
        requests = [
            request
            for request in HfApi().get_repo_discussions(source, discussion_type="pull_request")
            if request.author == _CONVERTER and request.git_reference
        ]
        for request in requests:
            form = weight_form(folder, _names(source, request.git_reference))
            if form and not form.pickled and request.git_reference:
                return request.git_reference, form
    except Exception:  # as above; without the list of requests main's own weights do as well
        return None
    return None


def _names(source: str, revision: str | None) -> list[str]:
    from huggingface_hub import HfApi

    return [file.rfilename for file in HfApi().model_info(source, revision=revision, timeout=10).siblings or ()]
