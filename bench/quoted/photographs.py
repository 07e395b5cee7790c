"""The world `photographs` of the pool: from which photograph is this patch of 24 x 24 pixels?

A class is a photograph that a Python package carries: two of scikit-learn, one of matplotlib, the others of
scikit-image (`pip install --no-deps scikit-image`; without it there are three classes). A photograph is cut into
squares of 28 pixels; each square gives one patch, to training, references, source or target. Brightness and contrast
of every patch are changed a little by chance, so that grey alone does not tell. Shifted sets of eight families: blur,
noise, colour, brightness, JPEG, rotation, scale, mosaic.

    cnn-*      judged: three convolutions, fitted until nothing is left to learn
    colours-*  judged: logistic regression on histograms of colours
    trees-*    judged: 100 trees on histograms of gradients and the mean colour
    reference        15 nearest neighbours by gradients and colours of patches of its own
    reference_weak   the mean grey and its deviation

    python bench/quoted/photographs.py --out POOL [--seeds 0,1]
"""

import io
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import classifiers
import numpy as np
import pool
import readers
import spoiling
import torch
from numpy.typing import NDArray
from PIL import Image
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

Patches = NDArray[np.float32]
"""float32[n, 3, 24, 24] in [0, 1]."""

SIDE, SQUARE, SQUARES = 24, 28, 320  # pixels of a patch and of its square; squares of a photograph, at most
SHARES = {"train": 0.3, "reference": 0.2, "source": 0.25, "same--unseen": 0.25}
SHIFTED = 600
FOLDERS = {
    "sklearn": ("datasets/images", ("china.jpg", "flower.jpg")),
    "matplotlib": ("mpl-data/sample_data", ("grace_hopper.jpg",)),
    "skimage": ("data", (
            "astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "coffee.png", "coins.png",
            "grass.png", "gravel.png", "hubble_deep_field.jpg", "ihc.png", "moon.png", "motorcycle_left.png",
            "retina.jpg", "rocket.jpg",
    )),
}  # fmt: skip


def photographs() -> dict[str, NDArray]:
    """Return uint8[H, W, 3] of every photograph that is installed, by name."""
    found = {}
    for package, (folder, names) in FOLDERS.items():
        spec = find_spec(package)
        for name in names if spec else ():
            file = Path(spec.submodule_search_locations[0]) / folder / name
            photograph = Image.open(file, formats=("PNG", "JPEG")).convert("RGB")
            found[file.stem.replace("_", " ")] = np.asarray(photograph)
    return found


def image_sets(seed: int, photographs: dict[str, NDArray], shifted: int) -> dict[str, tuple[Patches, NDArray]]:
    """Return patches and labels: training, references, source, unshifted target and every shifted set."""
    draws, parts = np.random.default_rng(seed), {name: [] for name in SHARES}
    for label, photograph in enumerate(photographs.values()):
        rows, columns = (np.arange(0, size - SQUARE + 1, SQUARE) for size in photograph.shape[:2])
        corners = draws.permutation([(row, column) for row in rows for column in columns])[:SQUARES]
        cuts = np.cumsum([round(share * len(corners)) for share in SHARES.values()])[:-1]
        for name, chosen in zip(SHARES, np.split(corners, cuts), strict=True):
            for corner in chosen:
                row, column = corner + draws.integers(0, SQUARE - SIDE + 1, 2)
                patch = photograph[row : row + SIDE, column : column + SIDE] / 255
                lighter = (patch - patch.mean()) * draws.uniform(0.7, 1.2) + patch.mean() + draws.normal(0, 0.1)
                parts[name].append((np.clip(lighter, 0, 1).transpose(2, 0, 1), label))
    sets = {}
    for name, pairs in parts.items():
        order = draws.permutation(len(pairs))
        sets[name] = (
            np.stack([pairs[place][0] for place in order]).astype(np.float32),
            np.array([pairs[place][1] for place in order]),
        )
    patches, labels = (one[:shifted] for one in sets["same--unseen"])
    for number, (name, shift) in enumerate(SHIFTS.items()):
        spoiled = shift(patches, np.random.default_rng([seed, 2, number]))
        sets[name] = np.clip(spoiled, 0, 1).astype(np.float32), labels
    return sets


def grey(patches: Patches, draws: np.random.Generator, *, way: Callable, **settings) -> Patches:
    """Change every channel in a way of grey images."""
    return way(patches.reshape(-1, SIDE, SIDE), draws, **settings).reshape(patches.shape)


def coloured(patches: Patches, _, *, factors: tuple[float, float, float]) -> Patches:
    return patches * np.array(factors)[:, None, None]


def faded(patches: Patches, _, *, share: float) -> Patches:
    """Mix each patch with its grey."""
    return (1 - share) * patches + share * patches.mean(axis=1, keepdims=True)


def jpeg(patches: Patches, _, *, quality: int) -> Patches:
    """Write and read every patch."""
    found = []
    for patch in np.round(patches * 255).astype(np.uint8).transpose(0, 2, 3, 1):
        file = io.BytesIO()
        Image.fromarray(patch).save(file, "JPEG", quality=quality)
        found.append(np.asarray(Image.open(file, formats=("JPEG",))).transpose(2, 0, 1) / 255)
    return np.stack(found)


def mosaic(patches: Patches, _, *, side: int) -> Patches:
    """Give all pixels of a small square their mean."""
    cells = patches.reshape(-1, 3, SIDE // side, side, SIDE // side, side).mean((3, 5))
    return cells.repeat(side, axis=2).repeat(side, axis=3)


SHIFTS: dict[str, Callable[[Patches, np.random.Generator], Patches]] = (
    {f"blur--{s:g}": partial(grey, way=spoiling.blurred, sigma=s) for s in (0.5, 1, 2)}
    | {f"noise--{d:g}": partial(grey, way=spoiling.noisy, deviation=d) for d in (0.02, 0.06, 0.15)}
    | {f"noise--salt-{s:g}": partial(grey, way=spoiling.salt_and_pepper, share=s) for s in (0.02, 0.1)}
    | {"colour--warm": partial(coloured, factors=(1.1, 1, 0.85))}
    | {"colour--cold": partial(coloured, factors=(0.7, 0.9, 1.2))}
    | {f"colour--faded-{s:g}": partial(faded, share=s) for s in (0.4, 1)}
    | {f"brightness--to-the-{p:g}": lambda patches, _, p=p: patches**p for p in (0.5, 1.5, 2.5)}
    | {f"brightness--contrast-{c:g}": partial(grey, way=spoiling.flattened, contrast=c) for c in (0.6, 0.3)}
    | {f"jpeg--{q}": partial(jpeg, quality=q) for q in (50, 20, 5)}
    | {f"rotation--{d}-degrees": partial(grey, way=spoiling.turned, degrees=d) for d in (15, 45, 90)}
    | {"rotation--mirrored": partial(grey, way=spoiling.mirrored)}
    | {f"scale--{f:g}": partial(grey, way=spoiling.scaled, factor=f) for f in (0.7, 1.5, 2.5)}
    | {f"mosaic--{s}": partial(mosaic, side=s) for s in (2, 4)}
)  # fmt: skip


def cnn(classes: int) -> nn.Module:
    def stage(before: int, after: int) -> list[nn.Module]:
        return [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]

    body = [nn.Flatten(1, 2), *stage(3, 12), *stage(12, 24), *stage(24, 48), nn.Flatten()]
    return nn.Sequential(*body, nn.Linear(432, 64), nn.ReLU(), nn.Linear(64, classes))


def colours(patches: Patches) -> NDArray:
    """Return float[n, 64]: shares of the pixels in 4 x 4 x 4 colours."""
    steps = np.minimum(patches * 4, 3).astype(int).reshape(len(patches), 3, -1)
    codes = 16 * steps[:, 0] + 4 * steps[:, 1] + steps[:, 2]
    return np.sqrt(np.stack([np.bincount(code, minlength=64) for code in codes]) / codes.shape[1])


def slopes(patches: Patches) -> NDArray:
    """Return float[n, 23]: strength and height of gradients in eight directions, fineness, and the colours."""
    grey = patches.mean(axis=1)
    down, across = np.gradient(grey, axis=(1, 2))
    angles = np.arange(8) * np.pi / 4
    along = np.maximum(across[..., None] * np.cos(angles) + down[..., None] * np.sin(angles), 0)
    strengths = np.sqrt((along**2).mean((1, 2)))
    fine = np.abs(np.diff(grey, 2, axis=2)).mean((1, 2))[:, None]
    return np.hstack([strengths, fine, along.max((1, 2)), patches.mean((2, 3)), patches.std((2, 3))])


def light(patches: Patches) -> NDArray:
    """Return float[n, 2]: the mean grey and its deviation."""
    grey = patches.mean(axis=1).reshape(len(patches), -1)
    return np.stack([grey.mean(axis=1), grey.std(axis=1)], axis=1)


def build(seed: int, found: dict[str, NDArray] | None = None, epochs: int = 140, shifted: int = SHIFTED) -> pool.World:
    """Return the fitted world of a seed."""
    found = found or photographs()
    sets = image_sets(seed, found, shifted)
    (patches, labels), (known, kinds) = sets.pop("train"), sets.pop("reference")
    recipe = readers.Recipe(cnn, epochs, 3e-3)
    network, kin = (readers.fitted(recipe, patches, labels, len(found), seed=seed + more) for more in (0, 1_000))
    models = {"cnn": pool.Judged(readers.reader(network), readers.reader(kin), readers.reader(network[:-1]))}
    for name, features, make in (
        ("colours", colours, lambda seed: make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))),
        ("trees", slopes, lambda seed: RandomForestClassifier(100, random_state=seed)),
    ):
        models[name] = classifiers.judged(make, patches, labels, seed, features)

    def both(patches: Patches) -> NDArray:
        return np.hstack([slopes(patches), 3 * colours(patches)])

    reference = make_pipeline(StandardScaler(), KNeighborsClassifier(15, weights="distance")).fit(both(known), kinds)
    weak = make_pipeline(StandardScaler(), LogisticRegression()).fit(light(known), kinds)
    return pool.World(list(found), sets, models, classifiers.reader(reference, both), classifiers.reader(weak, light))


def main(arguments: list[str] | None = None) -> None:
    torch.set_num_threads(1)
    pool.main(__doc__, {"photographs": build}, arguments)


if __name__ == "__main__":
    main()
