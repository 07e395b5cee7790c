"""A light ConvNet for small pictures: the layers of PyTorch's MNIST example, which ATC trains on MNIST.

conv 32, conv 64, one hidden layer of 128 and dropout, as models/convnet.py of saurabhgarg1996/ATC_code @ 382e95b. Here
the convolutions keep the size of the picture and each is followed by pooling, which costs a third of the arithmetic;
there neither pads, and only the second is pooled.
"""

from torch import nn


def convnet(classes: int, side: int) -> nn.Sequential:
    """Return the untrained network for images of `side` pixels, at least 4.

    >>> sum(weights.numel() for weights in convnet(10, 28).parameters())
    422218
    """
    return nn.Sequential(
        *_halved(3, 32),
        *_halved(32, 64),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64 * (side // 4) ** 2, 128),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        nn.Linear(128, classes),
    )


def _halved(channels: int, wider: int) -> tuple[nn.Module, ...]:
    # Pooling before the ReLU gives the same numbers for a quarter of its work: both keep the order of values.
    return nn.Conv2d(channels, wider, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(inplace=True)
