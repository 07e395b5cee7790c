"""Every style by name."""

from openworld.datasets.styles import _lines, _paint, _pieces, _tones
from openworld.datasets.styles._style import Style

STYLES: dict[str, Style] = {
    "monochrome": _tones.MONOCHROME,
    "recolour": _tones.RECOLOUR,
    "posterise": _tones.POSTERISE,
    "pop art": _tones.POP_ART,
    "film noir": _tones.FILM_NOIR,
    "line art": _lines.LINE_ART,
    "sketch": _lines.SKETCH,
    "blueprint": _lines.BLUEPRINT,
    "neon": _lines.NEON,
    "comic book": _lines.COMIC_BOOK,
    "papercut": _pieces.PAPERCUT,
    "pixel art": _pieces.PIXEL_ART,
    "stained glass": _pieces.STAINED_GLASS,
    "cross stitch": _pieces.CROSS_STITCH,
    "pointillism": _paint.POINTILLISM,
    "watercolour": _paint.WATERCOLOUR,
    "oil paint": _paint.OIL_PAINT,
}
"""Name -> style, tones first, then lines, pieces and the brush."""
