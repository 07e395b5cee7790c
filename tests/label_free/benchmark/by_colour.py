"""A network that can be followed by hand: the logit of each class is the mean of one colour channel, times `SCALE`."""

import torch

SCALE = 2.0


class ByColour(torch.nn.Module):
    """Logits of "green" and "red", in that order, from normalised pixels float[B, 3, H, W]."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(SCALE))

    def forward(self, pixels):
        return self.scale * pixels[:, [1, 0]].mean(dim=(2, 3))


def network(classes):
    """For `openworld.classifiers.build`."""
    assert classes == 2
    return ByColour()
