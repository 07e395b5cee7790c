"""Training augmentation of RGBA drawings, whole batches at a time, in PyTorch on the CPU.

A drawing (uint8, straight alpha) is redrawn in another look (grey, edges, ink, ...), its colours shift, it is warped,
flipped and moved, and laid over a background. The looks stand in for black-and-white icon styles that training never
sees; their share grows with `strength`. A batch of 64 takes about 40 ms on one core.
"""

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

# Share of images in each look at full strength; the rest keep their colours.
LOOKS = {"grey": 0.02, "edges": 0.07, "threshold": 0.13, "cutout": 0.05, "outline": 0.07}
LUMINANCE = torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)
YIQ = torch.tensor([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


def augment(images: Tensor, flippable: Tensor, strength: float, random: Generator) -> tuple[Tensor, list[str | None]]:
    """Images uint8[B,H,W,4] as training pixels float32[B,3,H,W] in [0,1], and the look each one got (or None).

    flippable: bool[B], False for symbols, whose meaning a flip may change. strength: 0 to 1, the share of the looks.
    """
    rgba = images.permute(0, 3, 1, 2).float().div_(255)
    colour, alpha = rgba[:, :3], rgba[:, 3:]
    colour, alpha, looks = redraw(colour, alpha, strength, random)
    colour = jitter(colour, random)
    moved = move(torch.cat([colour * alpha, alpha], dim=1), flippable, random)
    inked = torch.tensor([look in ("edges", "threshold", "cutout") for look in looks])
    pixels = moved[:, :3] + (1 - moved[:, 3:]) * background(
        len(moved), moved.shape[-1], inked, random, 1 - 0.5 * strength
    )
    return pixels.clamp_(0, 1), looks


def uniform(shape: tuple[int, ...], low: float, high: float, random: Generator) -> Tensor:
    """Random float32 numbers in [low, high)."""
    return torch.rand(shape, generator=random) * (high - low) + low


# --- looks ------------------------------------------------------------------------------------------------


def redraw(colour: Tensor, alpha: Tensor, strength: float, random: Generator) -> tuple[Tensor, Tensor, list]:
    """Colour [B,3,H,W] and alpha [B,1,H,W] with every image redrawn in a random look."""
    colour, alpha = colour.clone(), alpha.clone()
    draws = torch.rand(len(colour), generator=random)
    looks: list[str | None] = [None] * len(colour)
    low = 0.0
    for look, share in LOOKS.items():
        high = low + share * strength
        chosen = torch.nonzero((draws >= low) & (draws < high)).flatten()
        low = high
        if len(chosen):
            drawn, shape = DRAW[look](colour[chosen], alpha[chosen], random)
            # Half of them lie between drawing and look: without such bridges training never crosses over.
            mix = uniform((len(chosen), 1, 1, 1), 0.2, 1.8, random).clamp_max(1)
            colour[chosen] = torch.lerp(colour[chosen], drawn, mix)
            alpha[chosen] = torch.lerp(alpha[chosen], shape, mix)
            for index in chosen.tolist():
                looks[index] = look
    return colour, alpha, looks


def draw_grey(colour: Tensor, alpha: Tensor, random: Generator) -> tuple[Tensor, Tensor]:
    """Luminance alone."""
    return _luminance(colour).expand(-1, 3, -1, -1), alpha


def draw_edges(colour: Tensor, alpha: Tensor, random: Generator) -> tuple[Tensor, Tensor]:
    """Dark lines where colours change, see-through or white elsewhere."""
    ink = thicken(edges(colour, alpha, random), random)
    filled = (torch.rand(len(ink), 1, 1, 1, generator=random) < 0.5).float() * alpha
    return (1 - ink).expand(-1, 3, -1, -1) + _ink_colour(ink, random), torch.maximum(ink, filled)


def draw_threshold(colour: Tensor, alpha: Tensor, random: Generator) -> tuple[Tensor, Tensor]:
    """Black where the drawing is darker than a level below its own middle, mostly with its lines added."""
    light = _luminance(colour)
    middle = (light * alpha).sum((2, 3), keepdim=True) / alpha.sum((2, 3), keepdim=True).clamp_min(1)
    ink = torch.sigmoid((middle + uniform((len(light), 1, 1, 1), -0.35, 0.1, random) - light) * 30) * alpha
    lines = torch.rand(len(light), 1, 1, 1, generator=random) < 0.8
    ink = torch.where(lines, torch.maximum(ink, thicken(edges(colour, alpha, random), random)), ink)
    filled = (torch.rand(len(ink), 1, 1, 1, generator=random) < 0.3).float() * alpha
    return (1 - ink).expand(-1, 3, -1, -1) + _ink_colour(ink, random), torch.maximum(ink, filled)


def draw_cutout(colour: Tensor, alpha: Tensor, random: Generator) -> tuple[Tensor, Tensor]:
    """The black silhouette with its inner lines, and sometimes its lightest parts, cut out."""
    inner = edges(colour, alpha, random, outline=False)
    light = torch.sigmoid((_luminance(colour) - uniform((len(alpha), 1, 1, 1), 0.7, 1.0, random)) * 30)
    keep = (torch.rand(len(alpha), 1, 1, 1, generator=random) < 0.6).float()
    ink = alpha * (1 - thicken(inner, random)) * (1 - keep * light)
    return _ink_colour(ink, random).expand(-1, 3, -1, -1), ink


def draw_outline(colour: Tensor, alpha: Tensor, random: Generator) -> tuple[Tensor, Tensor]:
    """The coloured drawing with dark lines over it."""
    ink = edges(colour, alpha, random)
    return colour * (1 - ink), torch.maximum(alpha, ink)


DRAW = {
    "grey": draw_grey,
    "edges": draw_edges,
    "threshold": draw_threshold,
    "cutout": draw_cutout,
    "outline": draw_outline,
}


def edges(colour: Tensor, alpha: Tensor, random: Generator, outline: bool = True) -> Tensor:
    """Soft edge mask [B,1,H,W] in [0,1]: the largest Sobel-like step of any channel against a random threshold.

    outline: also where the drawing ends (alpha changes), otherwise inside only.
    """
    layers = torch.cat([colour * alpha + (1 - alpha), alpha], dim=1) if outline else colour
    padded = F.pad(layers, (1, 1, 1, 1), mode="replicate")
    across = (padded[..., 1:-1, 2:] - padded[..., 1:-1, :-2]).abs().amax(1, keepdim=True)
    down = (padded[..., 2:, 1:-1] - padded[..., :-2, 1:-1]).abs().amax(1, keepdim=True)
    steps = torch.maximum(across, down)
    if not outline:
        inside = -F.max_pool2d(-alpha, 3, stride=1, padding=1)
        steps = steps * (inside > 0.9)
    threshold = uniform((len(colour), 1, 1, 1), 0.12, 0.35, random)
    return torch.sigmoid((steps - threshold) * 25)


def thicken(ink: Tensor, random: Generator) -> Tensor:
    """Masks whose lines are as they were, one or two pixels wider on each side, a third of the time each."""
    draw = torch.rand(len(ink), 1, 1, 1, generator=random)
    wide = F.max_pool2d(ink, 3, stride=1, padding=1)
    return torch.where(draw < 1 / 3, ink, torch.where(draw < 2 / 3, wide, F.max_pool2d(wide, 3, 1, 1)))


def _luminance(colour: Tensor) -> Tensor:
    return (colour * LUMINANCE).sum(1, keepdim=True)


def _ink_colour(ink: Tensor, random: Generator) -> Tensor:
    return uniform((len(ink), 1, 1, 1), 0.0, 0.3, random).square() * 3 * torch.ones_like(ink)


# --- colour, place, background ----------------------------------------------------------------------------


def jitter(colour: Tensor, random: Generator) -> Tensor:
    """Colours [B,3,H,W] with hue (15 degrees), saturation, contrast, brightness and gamma changed a little."""
    count = len(colour)
    angle = uniform((count,), -1, 1, random) * math.radians(15)
    saturation = uniform((count,), -0.2, 1.3, random).clamp_min(0)
    turn = torch.zeros(count, 3, 3)
    turn[:, 0, 0] = 1
    turn[:, 1, 1] = turn[:, 2, 2] = saturation * angle.cos()
    turn[:, 1, 2], turn[:, 2, 1] = -saturation * angle.sin(), saturation * angle.sin()
    gain = uniform((count, 1, 1), 0.75, 1.25, random)
    matrix = gain * (torch.linalg.inv(YIQ) @ turn @ YIQ)
    shift = 0.5 * (1 - gain) + uniform((count, 1, 1), -0.12, 0.12, random)
    turned = torch.baddbmm(shift.expand(-1, 3, 1), matrix, colour.flatten(2))
    return turned.clamp_(0, 1).view_as(colour)


def move(layers: Tensor, flippable: Tensor, random: Generator) -> Tensor:
    """Layers [B,C,H,W] (zero outside) scaled by .6 to 1.25, turned, sheared, shifted, flipped and gently warped."""
    count, size = len(layers), layers.shape[-1]
    scale = torch.exp(uniform((count,), math.log(0.6), math.log(1.25), random))
    stretch = torch.exp(uniform((count,), -0.15, 0.15, random))
    angle = uniform((count,), -1, 1, random).pow(3) * math.radians(35)
    flip = 1 - 2 * ((torch.rand(count, generator=random) < 0.5) & flippable).float()
    cos, sin = angle.cos() / scale, angle.sin() / scale
    matrix = torch.empty(count, 2, 3)
    matrix[:, 0, 0], matrix[:, 0, 1] = flip * cos * stretch, -sin + uniform((count,), -0.15, 0.15, random)
    matrix[:, 1, 0], matrix[:, 1, 1] = flip * sin, cos / stretch
    matrix[:, :, 2] = uniform((count, 2), -1, 1, random) * (1.1 - scale).clamp_min(0.1).unsqueeze(1) / scale[:, None]
    grid = F.affine_grid(matrix, [count, 1, size, size], align_corners=False)
    return F.grid_sample(layers, grid + warp(count, size, random), align_corners=False)


def warp(count: int, size: int, random: Generator) -> Tensor:
    """Smooth displacements [B,size,size,2] in units of half an image: another hand drawing the same thing."""
    amount = uniform((count, 1, 1, 1), 0, 0.09, random)
    coarse = torch.randn(count, 2, 5, 5, generator=random) * amount
    return F.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=True).permute(0, 2, 3, 1)


def background(count: int, size: int, inked: Tensor, random: Generator, plain: float = 0.5) -> Tensor:
    """Backgrounds [B,3,size,size]: white for a share `plain`, else one colour, a blend of colours or a texture.

    inked: bool[B]; behind black ink, and four times in five anyway, the background is light.
    """
    base = torch.rand(count, 3, 1, 1, generator=random)
    light = inked | (torch.rand(count, generator=random) < 0.8)
    base = torch.where(light.view(-1, 1, 1, 1), 0.55 + 0.45 * base, base)
    cells = torch.randn(count, 3, 4, 4, generator=random)
    blend = F.interpolate(cells, size=(size, size), mode="bilinear", align_corners=True)
    grain = torch.randn(count, 1, size, size, generator=random)
    blend_amount = uniform((count, 1, 1, 1), -0.2, 0.25, random).clamp_min(0)
    grain_amount = uniform((count, 1, 1, 1), -0.1, 0.06, random).clamp_min(0)
    textured = base + blend * blend_amount + grain * grain_amount
    white = torch.rand(count, 1, 1, 1, generator=random) < plain
    return torch.where(white, torch.ones(()), textured.clamp_(0, 1))


def informative_patches(pixels: Tensor, keep: int, patch: int, random: Generator) -> Tensor:
    """Indices int64[B, keep] of the patches that patch dropout leaves, drawn without replacement.

    A patch is likelier to stay the more its pixels vary: flat background says little (a Gumbel top-k draw).
    """
    cells = F.avg_pool2d(pixels, 2).unfold(2, patch // 2, patch // 2).unfold(3, patch // 2, patch // 2)
    spread = (cells.amax((4, 5)) - cells.amin((4, 5))).amax(1).flatten(1)
    gumbel = -torch.log(-torch.log(torch.rand(spread.shape, generator=random).clamp(1e-6, 1 - 1e-6)))
    return (torch.log(spread + 0.15) + gumbel).topk(keep, dim=1).indices
