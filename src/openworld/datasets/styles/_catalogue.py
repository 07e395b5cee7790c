"""Every style by name, after what several share: tones change colours alone, then come lines, pieces, and the brush."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy import ndimage
from scipy.spatial import cKDTree  # ty: ignore[missing-module-member]: compiled

from openworld.datasets.corruptions._formulas import Draws, as_levels, pixels_of

LUMA = np.array([0.299, 0.587, 0.114])
_TO_YIQ = np.array([LUMA, [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_POSTERS = np.array(
    [
        [[0.11, 0.05, 0.35], [0.93, 0.11, 0.41], [1.00, 0.55, 0.15], [1.00, 0.94, 0.31]],
        [[0.05, 0.16, 0.30], [0.00, 0.55, 0.62], [0.98, 0.44, 0.53], [1.00, 0.93, 0.73]],
        [[0.20, 0.00, 0.20], [0.55, 0.13, 0.75], [0.20, 0.80, 0.60], [0.92, 1.00, 0.35]],
        [[0.07, 0.07, 0.07], [0.86, 0.10, 0.14], [0.16, 0.60, 0.92], [0.98, 0.97, 0.90]],
    ]
)
"""Four inks, dark to bright, for each of four posters."""


@dataclass(frozen=True, eq=False)
class Style:
    group: str  # "tone", "line", "piece" or "paint"
    sentence: str  # what an image in it shows, `{}` in the place of the class name
    formula: Callable[[np.ndarray, Draws], np.ndarray]  # pixels float64[H, W, 3] in [0, 1] to that shape, of any range
    random: bool = False  # whether the formula draws

    def __call__(self, image, draws: Draws) -> np.ndarray:
        """Return an image (PIL, or uint8[H, W, 3], 16 pixels each way or more) in this style, uint8[H, W, 3].

        `draws`, a NumPy Generator or RandomState, is consumed. Raises OpenworldError for another shape, type or size.
        """
        return as_levels(self.formula(pixels_of(image, "styles") / 255, draws))


def unit(pixels: np.ndarray) -> float:
    """Return one 64th of the shorter side, in pixels: the measure of all lengths here."""
    return min(pixels.shape[:2]) / 64


def luma(pixels: np.ndarray) -> np.ndarray:
    return pixels @ LUMA


def edges(pixels: np.ndarray, sigma: float) -> np.ndarray:
    """The steepest slope of the three channels, float64[H, W], 1 where a channel leaps from 0 to 1 at scale `sigma`."""
    slopes = [ndimage.gaussian_gradient_magnitude(pixels[..., channel], sigma) for channel in range(3)]
    return np.clip(np.max(slopes, axis=0) * sigma * np.sqrt(2 * np.pi), 0, 1)


def smooth(pixels: np.ndarray, size: float) -> np.ndarray:
    """Median over squares of about `size` pixels, each channel alone: flat areas with edges kept."""
    side = max(1, 2 * round((size - 1) / 2) + 1)
    return ndimage.median_filter(pixels, (side, side, 1))


def few_colours(pixels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The colour number of each pixel, int[H, W], and float64[n, 3], n at most `count`, the brightest first."""
    image = Image.fromarray((np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8))
    quantized = np.asarray(image.quantize(count, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
    used, numbers = np.unique(quantized, return_inverse=True)
    numbers = numbers.reshape(quantized.shape)
    colours = means(pixels, numbers, len(used))
    order = np.argsort(-luma(colours), kind="stable")
    return np.argsort(order, kind="stable")[numbers], colours[order]  # the inverse of the order numbers anew


def means(pixels: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    """The mean colour float64[count, 3] of the pixels of each number; 0 where there is none."""
    sizes = np.maximum(np.bincount(numbers.ravel(), minlength=count), 1)
    sums = [np.bincount(numbers.ravel(), pixels[..., channel].ravel(), count) for channel in range(3)]
    return np.stack(sums, axis=1) / sizes[:, None]


def scattered(shape: tuple[int, int], step: float, draws: Draws) -> np.ndarray:
    """Points float64[n, 2] (row, column), one at random in each square of side `step`."""
    rows, columns = np.meshgrid(np.arange(0, shape[0], step), np.arange(0, shape[1], step), indexing="ij")
    corners = np.stack([rows.ravel(), columns.ravel()], axis=1)
    return corners + draws.uniform(0, step, corners.shape)


def nearest_points(points: np.ndarray, shape: tuple[int, int], count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Distances float64[H, W, count] from each pixel to its nearest points, and which they are."""
    places = np.stack([*np.indices(shape)], axis=-1).reshape(-1, 2)
    distances, numbers = cKDTree(points).query(places, k=range(1, count + 1))
    return distances.reshape(*shape, count), numbers.reshape(*shape, count)


def colours_at(pixels: np.ndarray, points: np.ndarray, sigma: float) -> np.ndarray:
    """Colours float64[n, 3] at points, of the image blurred by `sigma`."""
    soft = ndimage.gaussian_filter(pixels, (sigma, sigma, 0))
    rows, columns = (np.clip(points[:, axis].astype(int), 0, pixels.shape[axis] - 1) for axis in (0, 1))
    return soft[rows, columns]


def tooth(shape: tuple[int, int], sigma: float, draws: Draws) -> np.ndarray:
    """The grain of paper: smooth noise float64[H, W] of mean 0 and deviation 1."""
    grain = ndimage.gaussian_filter(draws.normal(size=shape), sigma)
    return (grain - grain.mean()) / grain.std()


def vivid(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Colours `factor` times as far from the grey of the same brightness."""
    grey = luma(pixels)[..., None]
    return np.clip(grey + factor * (pixels - grey), 0, 1)


def _monochrome(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    return np.repeat(luma(pixels)[..., None], 3, axis=2)


def _recolour(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Turn all hues by one angle between a sixth and five sixths of the circle; brightness stays."""
    angle = draws.uniform(np.pi / 3, 5 * np.pi / 3)
    # In YIQ the first axis is brightness: a rotation of the other two turns hues and leaves it.
    sine, cosine = np.sin(angle), np.cos(angle)
    turn = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    return pixels @ (np.linalg.inv(_TO_YIQ) @ turn @ _TO_YIQ).T


def _posterise(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    return np.round(2 * smooth(pixels, 3 * unit(pixels))) / 2


def _pop_art(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Four inks of a random poster for four steps of brightness."""
    grey = luma(smooth(pixels, 2 * unit(pixels)))
    cuts = np.linspace(grey.min(), grey.max(), 5)[1:-1]
    return _POSTERS[draws.permutation(len(_POSTERS))[0]][np.searchsorted(cuts, grey)]


def _film_noir(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Hard grey with dark corners and grain."""
    grey = luma(pixels)
    rows, columns = np.indices(grey.shape)
    middle = [(length - 1) / 2 for length in grey.shape]
    away = np.hypot((rows - middle[0]) / grey.shape[0], (columns - middle[1]) / grey.shape[1]) * np.sqrt(2)
    hard = 1 / (1 + np.exp(-9 * (grey - 0.55)))
    dark = hard * (1 - 0.85 * away**1.5) + draws.normal(0, 0.03, grey.shape)
    return np.repeat(dark[..., None], 3, axis=2)


_INK, _PAPER = np.array([0.13, 0.13, 0.16]), np.array([0.98, 0.97, 0.94])
_BLUE, _GRID = np.array([0.06, 0.20, 0.48]), np.array([0.20, 0.36, 0.64])


def _line_art(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    line = _sharp(edges(pixels, 0.7 * unit(pixels)), 0.22)
    return np.repeat(1 - line[..., None], 3, axis=2)


def _sketch(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Pencil: grey divided by its blur leaves lines, strokes at 45 degrees darken the shadows."""
    step, grey = unit(pixels), luma(pixels)
    lines = np.minimum(1, (grey + 0.04) / (ndimage.gaussian_filter(grey, 2 * step) + 0.04))
    noise, length = draws.normal(size=grey.shape), max(3, round(5 * step))
    strokes = ndimage.convolve(ndimage.gaussian_filter(noise, 0.4 * step), np.eye(length)[::-1] / length)
    shade = 1 - 0.55 * np.clip(1 - grey - 0.15, 0, 1) * (strokes > 0)
    drawn = np.minimum(lines**2, shade) + 0.02 * tooth(grey.shape, 0.5 * step, draws)
    return _INK + np.clip(drawn, 0, 1)[..., None] * (_PAPER - _INK)


def _blueprint(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """White lines on blue paper with a grid."""
    step = unit(pixels)
    rows, columns = np.indices(pixels.shape[:2])
    ruled = ((rows % (8 * step)) < step) | ((columns % (8 * step)) < step)
    paper = np.where(ruled[..., None], _GRID, _BLUE)
    line = _sharp(edges(pixels, 0.7 * step), 0.18)[..., None]
    return paper * (1 - line) + 0.95 * line


def _neon(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Glowing lines in the image's own colours on black."""
    step = unit(pixels)
    line = _sharp(edges(pixels, 0.8 * step), 0.25)[..., None]
    light = line * vivid(0.35 + 0.65 * ndimage.maximum_filter(pixels, (3, 3, 1)), 3)
    glow = ndimage.gaussian_filter(light, (2 * step, 2 * step, 0))
    return np.array([0.02, 0.01, 0.06]) + light + 0.8 * glow


def _comic_book(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Few strong colours, dots in the shade, black lines."""
    step = unit(pixels)
    flat = np.round(3 * vivid(smooth(pixels, 3 * step), 1.6)) / 3
    rows, columns = np.indices(pixels.shape[:2])
    wave = np.pi / (3 * step)
    dots = (np.cos(wave * (rows + columns)) + np.cos(wave * (rows - columns))) / 4 + 0.5
    shade = (dots > 0.35 + 0.65 * luma(smooth(pixels, 3 * step)))[..., None]
    line = _sharp(edges(pixels, 0.7 * step), 0.3)[..., None]
    return flat * np.where(shade, 0.55, 1) * (1 - line)


def _sharp(slope: np.ndarray, middle: float) -> np.ndarray:
    """Slopes pushed towards 0 and 1 around `middle`."""
    return 1 / (1 + np.exp(-18 * (slope - middle)))


def _papercut(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Sheets of coloured paper, the darker above the brighter, each with a shadow on those below."""
    step = unit(pixels)
    numbers, colours = few_colours(smooth(pixels, 5 * step), 7)
    paper = np.broadcast_to(colours[0], pixels.shape).copy()
    for number in range(1, len(colours)):
        sheet = (numbers >= number).astype(float)
        shadow = ndimage.gaussian_filter(ndimage.shift(sheet, 1.5 * step, order=1, mode="nearest"), 1.2 * step)
        paper *= 1 - 0.5 * shadow[..., None]
        paper = np.where(sheet[..., None] > 0, vivid(colours[number], 1.3), paper)
    return paper * (1 + 0.02 * tooth(numbers.shape, 0.4 * step, draws)[..., None])


def _pixel_art(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Sixteen squares along the shorter side, in eight colours."""
    height, width = pixels.shape[:2]
    size = [max(1, round(length / (4 * unit(pixels)))) for length in (width, height)]
    channels = [
        Image.fromarray(pixels[..., one].astype(np.float32)).resize(size, Image.Resampling.BOX) for one in range(3)
    ]
    numbers, colours = few_colours(np.stack([np.asarray(one, float) for one in channels], axis=2), 8)
    rows, columns = (np.arange(length) * cells // length for length, cells in ((height, size[1]), (width, size[0])))
    return vivid(colours, 1.2)[numbers[rows[:, None], columns]]


def _stained_glass(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    step = unit(pixels)
    points = scattered(pixels.shape[:2], 6 * step, draws)
    distances, numbers = nearest_points(points, pixels.shape[:2], 2)
    panes = vivid(means(pixels, numbers[..., 0], len(points)), 1.8)[numbers[..., 0]]
    lit = panes * (1.05 - 0.15 * distances[..., :1] / (6 * step))
    return np.where(distances[..., 1:] - distances[..., :1] < 1.1 * step, 0.08, lit)


def _cross_stitch(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Crosses of twelve colours of thread on pale cloth."""
    cell = max(4, round(5 * unit(pixels)))
    rows, columns = np.indices(pixels.shape[:2])
    across = -(-pixels.shape[1] // cell)
    squares = rows // cell * across + columns // cell
    numbers, colours = few_colours(means(pixels, squares, int(squares.max()) + 1)[squares], 12)
    y, x = (rows % cell + 0.5) / cell, (columns % cell + 0.5) / cell
    thread = np.minimum(abs(y - x), abs(y + x - 1))
    cloth = np.array([0.93, 0.90, 0.84]) * np.where((x < 1 / cell) | (y < 1 / cell), 0.9, 1)[..., None]
    return np.where((thread < 0.3)[..., None], colours[numbers] * (1 - thread[..., None]), cloth)


_CANVAS = np.array([0.95, 0.92, 0.84])


def _pointillism(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Two layers of dots, their colours a little off, on bare canvas."""
    step = unit(pixels)
    canvas = np.broadcast_to(_CANVAS, pixels.shape)
    for _ in range(2):
        points = scattered(pixels.shape[:2], 2.4 * step, draws)
        paints = vivid(colours_at(pixels, points, 0.5 * step), 1.4) + draws.normal(0, 0.07, points.shape[:1] + (3,))
        distances, numbers = nearest_points(points, pixels.shape[:2])
        canvas = np.where(distances < 1.25 * step, paints[numbers[..., 0]], canvas)
    return canvas


def _watercolour(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Pale washes that run over their borders, darker at the rim, on rough paper."""
    step = unit(pixels)
    shape = pixels.shape[:2]
    moves = np.stack([1.2 * step * tooth(shape, 3 * step, draws) for _ in range(2)])
    places = np.indices(shape) + moves
    run = np.stack([ndimage.map_coordinates(pixels[..., one], places, order=1, mode="nearest") for one in range(3)], 2)
    wash = ndimage.gaussian_filter(smooth(run, 5 * step), (0.7 * step, 0.7 * step, 0))
    pooled = 1 - 0.3 * edges(wash, step)[..., None] + 0.06 * tooth(shape, step, draws)[..., None]
    return (0.25 + 0.75 * vivid(wash, 1.1)) * pooled


def _oil_paint(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Each pixel takes the mean of that of four neighbouring squares which varies least (Kuwahara et al., 1976)."""
    away = max(1, round(2 * unit(pixels)))
    side = 2 * away + 1  # odd, and moved by half, so that every square holds the pixel
    mean = ndimage.uniform_filter(pixels, (side, side, 1))
    spread = (ndimage.uniform_filter(pixels**2, (side, side, 1)) - mean**2).sum(axis=2)
    moves = [(down, right) for down in (-away, away) for right in (-away, away)]
    calmest = np.argmin([_moved(spread, move) for move in moves], axis=0)
    painted = np.choose(calmest[..., None], [_moved(mean, move) for move in moves])
    return vivid(painted, 1.3)


def _moved(values: np.ndarray, move: tuple[int, int]) -> np.ndarray:
    """values[r + down, c + right], the border repeated outside."""
    rows, columns = (np.clip(np.arange(size) + by, 0, size - 1) for size, by in zip(values.shape, move, strict=False))
    return values[rows[:, None], columns]


STYLES: dict[str, Style] = {
    "monochrome": Style("tone", "a monochrome picture of a {}.", _monochrome),
    "recolour": Style("tone", "a picture of a {} in the wrong colours.", _recolour, random=True),
    "posterise": Style("tone", "a flat poster of a {}.", _posterise),
    "pop art": Style("tone", "pop art of a {}.", _pop_art, random=True),
    "film noir": Style("tone", "a dark film noir picture of a {}.", _film_noir, random=True),
    "line art": Style("line", "line art of a {}.", _line_art),
    "sketch": Style("line", "a pencil sketch of a {}.", _sketch, random=True),
    "blueprint": Style("line", "a blueprint of a {}.", _blueprint),
    "neon": Style("line", "a neon sign of a {}.", _neon),
    "comic book": Style("line", "a comic book picture of a {}.", _comic_book),
    "papercut": Style("piece", "a papercut of a {}.", _papercut, random=True),
    "pixel art": Style("piece", "pixel art of a {}.", _pixel_art),
    "stained glass": Style("piece", "a stained glass window of a {}.", _stained_glass, random=True),
    "cross stitch": Style("piece", "a cross stitch of a {}.", _cross_stitch),
    "pointillism": Style("paint", "a pointillist painting of a {}.", _pointillism, random=True),
    "watercolour": Style("paint", "a watercolour of a {}.", _watercolour, random=True),
    "oil paint": Style("paint", "an oil painting of a {}.", _oil_paint),
}
"""Name -> style, tones first, then lines, pieces and the brush."""
