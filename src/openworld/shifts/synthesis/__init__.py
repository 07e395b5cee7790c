"""Images made to order: labels in styles, drawn at measured shift, painted by a diffusion model or by the renderer.

Syn-IS ("Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox", Long et al., 2024, section 2.3
and appendix D). In order:

    prompt_styles, rendered_styles     the paper's 51 styles in words of our own; the 17 that need no model
    Prompts, prompt_degrees            labels x styles, and how far each text is from the reference images
    plan_synthesis                     equally many from every cell of the grid, a seed for each image
    generate                           to files, by a painter: `sdxl_turbo` (extra `synth`) or `RenderedPainter`
    read_generated                     the finished set, as an image set with its levels

diffusers is imported by `sdxl_turbo` alone.
"""

from openworld.shifts.synthesis.diffusion import DiffusionPainter, sdxl_turbo
from openworld.shifts.synthesis.generated_set import GeneratedSet, is_generated, read_generated
from openworld.shifts.synthesis.generating import Painter, Screen, begin, generate
from openworld.shifts.synthesis.planning import Commission, SynthesisPlan, plan_synthesis
from openworld.shifts.synthesis.prompts import Prompts, PromptStyle, prompt_degrees, prompt_styles, published_styles
from openworld.shifts.synthesis.rendering import RenderedPainter, rendered_styles

__all__ = [
    "Commission",
    "DiffusionPainter",
    "GeneratedSet",
    "Painter",
    "PromptStyle",
    "Prompts",
    "RenderedPainter",
    "Screen",
    "SynthesisPlan",
    "begin",
    "generate",
    "is_generated",
    "plan_synthesis",
    "prompt_degrees",
    "prompt_styles",
    "published_styles",
    "read_generated",
    "rendered_styles",
    "sdxl_turbo",
]
