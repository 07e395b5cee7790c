"""Images of noise in folders, and saved networks that nobody trained."""

import numpy as np
import torch
from PIL import Image

from openworld import classifiers


def draw(folder, count, dice, side=32, channel=None, low=0, high=200):
    """Write images of noise, of one colour where a channel is named."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        pixels = dice.integers(low, high, (side, side, 3))
        if channel is not None:
            pixels[..., channel] += 55
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number}.png")


def network(names, side=32, architecture="resnet-8", seed=0, resize="shortest"):
    torch.manual_seed(seed)
    preprocess = classifiers.Preprocess(side, side, resize, (0.5,) * 3, (0.25,) * 3)
    return classifiers.Classifier(classifiers.build(architecture, len(names), side), names, preprocess, architecture)


def save_network(folder, names, **how):
    """Save it, and return its folder as a text."""
    classifiers.save(network(names, **how), folder)
    return str(folder)
