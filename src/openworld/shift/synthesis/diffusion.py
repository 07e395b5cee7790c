"""A painter that is a diffusion model: SDXL-Turbo, or any text-to-image pipeline of diffusers (extra `synth`).

The paper (Long et al., 2024) takes SDXL-Turbo and does not publish size, steps or guidance. Defaults here are what the
model was distilled for: 512 x 512, guidance 0 (which leaves negative prompts without effect), and four steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.shift.synthesis.planning import Commission

TURBO = "stabilityai/sdxl-turbo"
_SHARE, _MOST = 0.8, 64


@dataclass(frozen=True, eq=False)
class DiffusionPainter:
    """A diffusers pipeline with its settings.

    The noise of a picture comes from a generator of its own on the CPU, so it is the same in whatever batch and on
    whatever device; the pixels are too, but for the rounding of the kernels.

    Args:
        pipeline: called as diffusers' text-to-image pipelines are. weights: its name or hash, for the manifest.
        side: pixels. steps: of denoising. guidance: above 1, negative prompts are used.
    """

    pipeline: Any
    weights: str
    side: int = 512
    steps: int = 4
    guidance: float = 0.0
    about: Mapping[str, Any] = field(init=False)

    def __post_init__(self):
        require_at_least(1, side=self.side, steps=self.steps)
        require_at_least(0, guidance=self.guidance)
        settings = {"side": self.side, "steps": self.steps, "guidance": float(self.guidance)}
        about = {"name": type(self.pipeline).__name__, "weights": self.weights, **settings}
        object.__setattr__(self, "about", about | {"dtype": str(getattr(self.pipeline, "dtype", "unknown"))})

    def paint(self, commissions: Sequence[Commission]) -> list[Image.Image]:
        """A picture for each."""
        import torch

        generators = [torch.Generator("cpu").manual_seed(order.seed) for order in commissions]
        negative = [order.negative for order in commissions] if self.guidance > 1 else None
        made = self.pipeline(
            prompt=[order.text for order in commissions],
            negative_prompt=negative,
            num_inference_steps=self.steps,
            guidance_scale=self.guidance,
            height=self.side,
            width=self.side,
            generator=generators,
            output_type="pil",
        )
        return list(made.images)

    def fitting(self) -> int:
        """Pictures at a time: on a GPU as many as four fifths of its free memory hold, at most 64; elsewhere 1.

        Paints one picture to learn what one needs.
        """
        import torch

        device = torch.device(getattr(self.pipeline, "device", "cpu"))
        if device.type != "cuda":
            return 1
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        self.paint([Commission(0, "thing", "", "a thing", "", (0, 0), "", 0)])
        one = torch.cuda.max_memory_allocated(device) - before
        torch.cuda.empty_cache()
        return fitting_batch(torch.cuda.mem_get_info(device)[0], one)


def fitting_batch(free: int, one: int) -> int:
    """How many pictures of `one` byte count fit four fifths of the free bytes: 1 to 64.

    >>> fitting_batch(free=10_000, one=1_000), fitting_batch(free=500, one=1_000)
    (8, 1)
    """
    return max(1, min(_MOST, int(_SHARE * free / max(one, 1))))


def sdxl_turbo(
    weights: str = TURBO, *, device: str = "cuda", half: bool = True, revision: str | None = None, **settings
) -> DiffusionPainter:
    """SDXL-Turbo from the Hugging Face hub or a local folder.

    Args:
        weights: repository or folder. device: "cuda" or "cpu". half: float16, on a GPU. revision: of the repository.
        settings: `side`, `steps`, `guidance` of `DiffusionPainter`.

    Raises:
        OpenworldError: diffusers is not installed; the weights cannot be loaded.
    """
    try:
        import torch
        from diffusers import AutoPipelineForText2Image
    except ImportError as error:
        raise OpenworldError(f"SDXL-Turbo needs diffusers ({error}); pip install 'openworld[synth]'.") from error
    dtype = torch.float16 if half and device != "cpu" else torch.float32
    # An invisible watermark is drawn where its package happens to be installed; without it pixels depend on less.
    options = {"torch_dtype": dtype, "revision": revision, "use_safetensors": True, "add_watermarker": False}
    try:
        pipeline = AutoPipelineForText2Image.from_pretrained(weights, **options).to(device)
    except (OSError, ValueError) as error:
        raise OpenworldError(f"{weights} cannot be loaded as a text-to-image pipeline: {error}.") from error
    pipeline.set_progress_bar_config(disable=True)
    return DiffusionPainter(pipeline, f"{weights}@{revision}" if revision else weights, **settings)
