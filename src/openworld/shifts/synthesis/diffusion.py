"""A painter that is a diffusion model: SDXL-Turbo, or any text-to-image pipeline of diffusers (extra `synth`).

The paper (Long et al., 2024) takes SDXL-Turbo and does not publish size, steps or guidance. Defaults here are what the
model was distilled for: 512 x 512, guidance 0 (which leaves negative prompts without effect), and four steps.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from PIL import Image

from openworld.core.arrays import LARGEST, MOST
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_json, sha256_of
from openworld.core.types import Range, checked
from openworld.shifts.synthesis.planning import Commission

TURBO = "stabilityai/sdxl-turbo"
_SHARE, _MOST = 0.8, 64
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w.-]+")


@checked
@dataclass(frozen=True, eq=False)
class DiffusionPainter:
    """A diffusers pipeline with its settings."""

    pipeline: Any  # called as diffusers' text-to-image pipelines are
    weights: str  # name or hash, for the manifest
    side: Annotated[int, Range(1, MOST["side"])] = 512  # pixels
    steps: Annotated[int, Range(1, MOST["steps"])] = 4  # of denoising
    guidance: Annotated[float, Range(0, LARGEST)] = 0.0  # above 1, negative prompts are used

    @property
    def about(self) -> Mapping[str, Any]:
        """What it is, for the manifest."""
        about = {"name": type(self.pipeline).__name__, "weights": self.weights, "side": self.side, "steps": self.steps}
        return about | {"guidance": self.guidance, "dtype": str(getattr(self.pipeline, "dtype", "unknown"))}

    def paint(self, commissions: Sequence[Commission]) -> list[Image.Image]:
        """Return an image for each."""
        import torch

        made = self.pipeline(
            prompt=[order.text for order in commissions],
            negative_prompt=[order.negative for order in commissions] if self.guidance > 1 else None,
            num_inference_steps=self.steps,
            guidance_scale=self.guidance,
            height=self.side,
            width=self.side,
            # Noise from a generator on the CPU for each image is the same in whatever batch and on whatever device.
            generator=[torch.Generator("cpu").manual_seed(order.seed) for order in commissions],
            output_type="pil",
        )
        return list(made.images)

    def fitting(self) -> int:
        """Return how many images to paint at a time, on a GPU by what one of them needs; elsewhere 1."""
        import torch

        device = torch.device(getattr(self.pipeline, "device", "cpu"))
        if device.type != "cuda":
            return 1
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        self.paint([Commission(0, "thing", "", "a thing", "", (0, 0), "", 0)])
        bytes_of_image = torch.cuda.max_memory_allocated(device) - before
        torch.cuda.empty_cache()
        return fitting_batch(torch.cuda.mem_get_info(device)[0], bytes_of_image)


def fitting_batch(free: int, image: int) -> int:
    """Return how many images of `image` bytes each fit four fifths of the free bytes: 1 to 64."""
    return max(1, min(_MOST, int(_SHARE * free / max(image, 1))))


def sdxl_turbo(
    weights: str = TURBO,  # repository of the Hugging Face hub, or folder as diffusers' `save_pretrained` writes it
    *,
    device: str = "cuda",
    half: bool = True,  # float16, on a GPU
    revision: str | None = None,  # of the repository
    download: bool = True,  # False to take only what is on this machine
    **settings: Any,
) -> DiffusionPainter:
    """Load SDXL-Turbo or another text-to-image pipeline; settings: side, steps, guidance of `DiffusionPainter`."""
    import torch

    half = half and device != "cpu"
    try:
        folder, name = _found(weights, revision, half, download)
        _require_data(Path(folder))
        loader = _diffusers().AutoPipelineForText2Image
        # An invisible watermark is drawn where its package happens to be installed; pixels shall not depend on that.
        pipeline = loader.from_pretrained(folder, add_watermarker=False, **_files(weights, half))
        pipeline = pipeline.to(device, torch.float16 if half else torch.float32)
    except OpenworldError:
        raise
    except Exception as error:  # other people's files and loaders fail in any way; the failure is named
        first = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise OpenworldError(
            f"{weights} cannot be loaded as a text-to-image pipeline: {first}. Expected a repository of the Hugging "
            "Face hub, or a folder with the model_index.json of a diffusers pipeline."
        ) from error
    pipeline.set_progress_bar_config(disable=True)
    return DiffusionPainter(pipeline, name, **settings)


def _diffusers() -> Any:
    try:
        import diffusers
    except ImportError as error:
        raise OpenworldError(f"SDXL-Turbo needs diffusers ({error}); pip install 'openworld[synth]'.") from error
    diffusers.utils.logging.disable_progress_bar()
    return diffusers


def _found(weights: str, revision: str | None, half: bool, download: bool) -> tuple[str, str]:
    """Return the folder of the weights, and a name that tells others apart: by their commit, or by their bytes."""
    if Path(weights).is_dir():
        folder, digest = Path(weights), hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".safetensors", ".txt")):
            digest.update(f"{path.relative_to(folder)}\0{sha256_of(path)}\n".encode())
        return weights, f"{folder.resolve().name}@{digest.hexdigest()[:16]}"
    if not _REPOSITORY.fullmatch(weights):
        raise FileNotFoundError("there is no such folder")
    options = _files(weights, half) | {"revision": revision, "local_files_only": not download}
    try:
        folder = str(_diffusers().DiffusionPipeline.download(weights, **options))
    except OSError as error:
        if download:
            raise
        raise FileNotFoundError("it is not on this machine, neither as a folder nor in the hub's cache") from error
    return folder, f"{weights}@{Path(folder).name}"


def _require_data(folder: Path) -> None:
    """Refuse a pipeline that names code; diffusers of before 2026 would import what model_index.json names."""
    said = read_json(folder / "model_index.json")
    parts = said.items() if isinstance(said, dict) else ()
    libraries = [part[0] for key, part in parts if isinstance(part, list) and part and key != "_class_name"]
    foreign = [str(name) for name in libraries if name not in (None, "diffusers", "transformers", "stable_diffusion")]
    foreign += [path.name for path in folder.rglob("*.py")]
    if foreign or isinstance(dict(parts).get("_class_name"), list):
        raise OpenworldError(
            f"{folder} names code ({', '.join(foreign) or 'a class of its own'}), and weights are data here; give a "
            "pipeline of diffusers' own classes, or a painter of yours as package.module:function."
        )


def _files(weights: str, half: bool) -> dict[str, Any]:
    """Return which of a repository's files are read; the published weights lie there in float16 too, half as large."""
    return {"use_safetensors": True, "variant": "fp16" if half and weights == TURBO else None}
