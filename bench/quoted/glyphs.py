"""Letters and digits drawn in the fonts of this machine: families sorted by kind, faces by style, grey images.

The kind of a family is that of the first pattern of `KINDS` that its folder and name match; a family that matches none
is left out, and so are copies of a design under another name (of Helvetica and Times there are six), which would be
trained on and tested on at once. Of a family the plain upright face stands for its kind, and one face for every style.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIDE = 32
CANVAS = 2 * SIDE
PLAIN_KINDS = ("sans", "serif", "mono")

KINDS: dict[str, str] = {
    "novelty": r"^aenigma/",
    "blackletter": r"/(blankenburg|isabella|oldania|fust|rusch|soufflet|zainer|sweynheim|rot$|spira|parix|jsmath-eufm)",
    "hand": r"/(breip|comic neue$|delphine|dkghandwriting|domestic manners|el abogado|havana|humor|kristi|steve|tomson"
    r"|balker|ecolier|z003|kaushan|dancing|leckerli|romande adf script|rufscript|junkyard)",
    "display": r"/(apropal|cherry|cupola|femkeklaver|le murmure|marked fool|staypuft|swift|train one|wargames|winks"
    r"|flatline|progenisis|it wasn't me|penguin|unifur|engadget|solothurn|lobster|bebas neue|cabin ?sketch|ubuntu-title"
    r"|c-64|glass tty|compagnon)",
    "mono": r"/(dejavu sans mono|liberation mono|freemono|inconsolata|hack|fira code|jetbrains|anonymous pro$|mononoki"
    r"|monofur|monoid tight|agave|fantasque|courier prime$|courier prime code|league mono|go mono|gnutypewriter"
    r"|cmtt10|pt mono|b612 mono|oxygen mono|noto sans mono|ocra$|ocr b|ibm 3270$|gwmonospace|nimbus mono)",
    "serif": r"/(dejavu serif$|liberation serif|cmr10|stixgeneral$|eb garamond|old standard|linux libertine o|gentium$"
    r"|charis|vollkorn|quattrocento|prociono|cardo|fanwood$|linden hill|goudy|gfs didot|accanthis adf std$|baskervald"
    r"|berenis adf pro$|romande adf std$|tribun|roboto slab|yrsa|elstobd|c059|p052|urw bookman|caladea|averia serif"
    r"|caslon$|century catalogue|essays1743|irianis adf std|mekanus adf std|junicode|dustismo roman|pt serif$)",
    "sans": r"/(dejavu sans$|cmss10|liberation sans( narrow)?$|lato|roboto( condensed)?$|open sans|cantarell"
    r"|cabin$|comfortaa|dosis|quicksand$|karla$|play$|inter$|sora|manrope|clear sans$|b612$|oxygen-sans"
    r"|pt sans( narrow)?$|gillius adf$|universalis|verana sans$|tuffy|jura|junction|allerta|league spartan|yanone"
    r"|averia sans|urw gothic|andika|linux biolinum o|eurofurence$|opendyslexic$|tiresias infofont$"
    r"|osp-din|routed gothic$|osifont|gemunu|roadgeek 2014 series d|national park|caliban|go$|dustismo$|libris"
    r"|ikarius adf std)",
}
"""Kind -> pattern of "folder/family", in lower case; the first that fits counts."""
STYLES: dict[str, str] = {
    "slanted": r"italic|oblique|slant|inclined",
    "narrow": r"cond|narrow|compressed",
    "wide": r"ext$|expanded|wide",
    "heavy": r"bold|black|heavy|demi",
    "light": r"light|thin|hairline",
}
"""Style -> pattern of "family style", in lower case; the first that fits counts, and "plain" where none does."""


@dataclass(frozen=True)
class Face:
    """A font file that has every letter and digit."""

    path: Path
    family: str
    kind: str
    style: str


@dataclass(frozen=True)
class Jitter:
    """How much images of one character differ: standard deviations, but `size`, the range of heights of capitals."""

    degrees: float = 5.0
    shear: float = 0.08
    pixels: float = 1.5
    size: tuple[float, float] = (14.0, 24.0)


JITTER = Jitter()


def faces(folders: Iterable[Path], characters: str) -> list[Face]:
    """Return one face for every family and style under some folders and in matplotlib, sorted by name."""
    found: dict[tuple[str, str], Face] = {}
    for folder in [*folders, Path(matplotlib.get_data_path()) / "fonts" / "ttf"]:
        for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".ttf", ".otf")):
            face = _face(path)
            if face and (face.family, face.style) not in found and _has_all(path, characters):
                found[face.family, face.style] = face
    return [found[key] for key in sorted(found)]


def _face(path: Path) -> Face | None:
    family, style = (str(part).strip() for part in _font(path).getname())
    place, look = f"{path.parent.name}/{family}".lower(), f"{family} {style}".lower()
    kind = next((kind for kind, pattern in KINDS.items() if re.search(pattern, place)), None)
    fitting = next((name for name, pattern in STYLES.items() if re.search(pattern, look)), "plain")
    return Face(path, family.removesuffix(" Narrow").removesuffix(" Condensed"), kind, fitting) if kind else None


def _has_all(path: Path, characters: str) -> bool:
    """Whether no character is blank or drawn as the sign of a missing one."""
    missing, font = bytes(_font(path).getmask("\U0010ffff")), _font(path)
    masks = [font.getmask(character) for character in characters]
    return all(mask.getbbox() and bytes(mask) != missing for mask in masks)


@cache
def _font(path: Path) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(path), 40)


@cache
def _capital(path: Path) -> float:
    """Return the height of a capital of a font of 40 pixels."""
    box = _font(path).getbbox("H")
    return max(box[3] - box[1], 1)


def draw(face: Face, character: str, draws: np.random.Generator, jitter: Jitter = JITTER) -> np.ndarray:
    """Return a white character on black, at a random place, size and slant; float32[32, 32] in [0, 1]."""
    font = _font(face.path)
    canvas = Image.new("L", (CANVAS, CANVAS))
    left, top, right, bottom = font.getbbox(character)
    place = ((CANVAS - left - right) / 2, (CANVAS - top - bottom) / 2)
    ImageDraw.Draw(canvas).text(place, character, font=font, fill=255)
    # A source pixel for every target pixel: out of the middle, scaled, slanted and turned, into the middle.
    height = 2 * draws.uniform(*jitter.size) * min(1.0, 1.4 * _capital(face.path) / max(bottom - top, right - left))
    angle = np.deg2rad(draws.normal(0, jitter.degrees))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    slant = np.array([[1, draws.normal(0, jitter.shear)], [0, 1]])
    matrix = turn @ slant * (_capital(face.path) / height)
    offset = CANVAS / 2 - matrix @ (CANVAS / 2 + draws.normal(0, 2 * jitter.pixels, 2))
    values = (*matrix[0], offset[0], *matrix[1], offset[1])
    seen = canvas.transform((CANVAS, CANVAS), Image.Transform.AFFINE, values, Image.Resampling.BILINEAR)
    return np.asarray(seen.reduce(2), dtype=np.float32) / 255
