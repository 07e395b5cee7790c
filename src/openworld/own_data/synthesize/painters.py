"""Who paints ordered images, by name: the diffusion model, the renderer, or a painter of one's own; and who screens.

A function of one's own is named package.module:function. As a painter it is called without arguments and returns a
`openworld.shifts.synthesis.Painter`; as a screen it is called with images and says which to keep.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld._functions import FORM, find_function
from openworld.datasets import ImageSet
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.pooling import pooled
from openworld.own_data.images import labelled_images
from openworld.shifts import synthesis
from openworld.shifts.synthesis.diffusion import TURBO

_PUBLISHED = "syn-is:"
TABLES = {"syn-is": synthesis.prompt_styles, "rendered": synthesis.rendered_styles}
"""Tables of styles by name: the paper's 51, and those that need no model."""


@dataclass(frozen=True)
class PainterSettings:
    """Settings of painters: `pictures` of the renderer, the rest but the device of the diffusion model."""

    pictures: tuple[str, ...] = ()  # folders of class folders or data sets as NAME/DOMAIN/PART, which are redrawn
    weights: str = TURBO
    side: int = 512
    steps: int = 4
    guidance: float = 0.0
    device: str = "cpu"

    def drawings(self) -> ImageSet:
        """Return all images that are redrawn, as one image set by all their names."""
        if not self.pictures:
            raise OpenworldError("the renderer redraws images, and none are named; give --images FOLDER.")
        sets = [labelled_images(where) for where in self.pictures]
        names = {normalise_class_name(name): name for images in sets for name in images.classnames}
        alike = [
            replace(images, classnames=tuple(names[normalise_class_name(name)] for name in images.classnames))
            for images in sets
        ]
        return pooled(alike, tuple(names.values()))


def find_styles(name: str, painter: str) -> tuple[synthesis.PromptStyle, ...]:
    """Return a table of styles by name or file; "syn-is:FILE.json" has the sentences of SDXL's templates."""
    name = name or ("rendered" if painter == "rendered" else "syn-is")
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
    return PAINTERS[name](settings, prompts)


def find_screen(name: str) -> synthesis.Screen | None:
    return synthesis.Screen(name, find_function(name)) if name else None


def _turbo(settings: PainterSettings, prompts: synthesis.Prompts) -> synthesis.Painter:
    chosen = {name: getattr(settings, name) for name in ("side", "steps", "guidance", "device")}
    return synthesis.sdxl_turbo(settings.weights, **chosen)


def _rendered(settings: PainterSettings, prompts: synthesis.Prompts) -> synthesis.Painter:
    painter = synthesis.RenderedPainter(settings.drawings())
    painter.require(prompts)
    return painter


PAINTERS: dict[str, Callable[[PainterSettings, synthesis.Prompts], synthesis.Painter]] = {
    "sdxl-turbo": _turbo,
    "rendered": _rendered,
}
"""Painters by name."""


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


def shown_labels(images: ImageSet) -> tuple[str, ...]:
    """Return names of the classes that have an image."""
    return tuple(images.classnames[label] for label in sorted(set(images.labels.tolist())))
