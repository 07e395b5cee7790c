"""Who paints ordered images, by name: the diffusion model, the renderer, or a painter of one's own; and who screens.

A function of one's own is named package.module:function. As a painter it is called without arguments and returns a
`openworld.shifts.synthesis.Painter`; as a screen it is called with images and says which to keep.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.functions import FORM, find_function
from openworld.datasets import ImageSet
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.pooling import pooled
from openworld.own_data.images import labelled_images
from openworld.shifts import synthesis
from openworld.shifts.synthesis.diffusion import TURBO

PAINTERS = TURBO_PAINTER, RENDERED = "sdxl-turbo", "rendered"
_PUBLISHED = "syn-is:"
TABLES = {"syn-is": synthesis.prompt_styles, RENDERED: synthesis.rendered_styles}
"""Tables of styles by name: the paper's 51, and those that need no model."""


@dataclass(frozen=True)
class PainterSettings:
    """Settings of painters: `images` of the renderer, the rest but the device of the diffusion model."""

    images: tuple[str, ...] = ()  # folders of class folders or data sets as NAME/DOMAIN/PART, which are redrawn
    weights: str = TURBO
    side: int = 512
    steps: int = 4
    guidance: float = 0.0
    device: str = "cpu"

    def drawings(self) -> ImageSet:
        """Return all images that are redrawn, as one image set by all their names."""
        if not self.images:
            raise OpenworldError("the renderer redraws images, and none are named; give --images FOLDER.")
        sets = [labelled_images(where) for where in self.images]
        names = {normalise_class_name(name): name for images in sets for name in images.classnames}
        alike = [
            replace(images, classnames=tuple(names[normalise_class_name(name)] for name in images.classnames))
            for images in sets
        ]
        return pooled(alike, tuple(names.values()))


def find_styles(name: str, painter: str) -> tuple[synthesis.PromptStyle, ...]:
    """Return a table of styles by name or file; "syn-is:FILE.json" has the sentences of SDXL's templates."""
    name = name or (RENDERED if painter == RENDERED else "syn-is")
    if name in TABLES:
        return TABLES[name]()
    published = name.removeprefix(_PUBLISHED)
    if not Path(published).is_file():
        raise unknown_name("table of styles", name, (*TABLES, "FILE.toml", "FILE.json", f"{_PUBLISHED}FILE.json"))
    if published != name:
        return synthesis.published_styles(published)
    return synthesis.prompt_styles(name)


def find_painter(name: str, settings: PainterSettings, prompts: synthesis.Prompts) -> synthesis.Painter:
    """Return the painter of that name, ready to paint these prompts."""
    if ":" in name:
        return _own_painter(name)
    if name not in PAINTERS:
        raise unknown_name("painter", name, (*PAINTERS, FORM))
    if name == TURBO_PAINTER:
        chosen = {options: getattr(settings, options) for options in ("side", "steps", "guidance", "device")}
        return synthesis.sdxl_turbo(settings.weights, **chosen)
    painter = synthesis.RenderedPainter(settings.drawings())
    painter.require(prompts)
    return painter


def _own_painter(name: str) -> synthesis.Painter:
    function = find_function(name)
    try:
        painter = function()
    except (Exception, SystemExit) as error:  # somebody's code may fail in any way; the failure is named
        raise OpenworldError(f"{name} gives no painter ({type(error).__name__}: {error}).") from error
    lacking = [part for part in ("about", "fitting", "paint") if not hasattr(painter, part)]
    if lacking:
        raise OpenworldError(
            f"{name} returns a {type(painter).__name__} without {' and '.join(lacking)}; expected a painter, as "
            "openworld.shifts.synthesis.Painter describes it."
        )
    return painter
