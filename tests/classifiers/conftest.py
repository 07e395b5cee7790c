import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_up import image_set  # noqa: E402

from openworld.classifiers import Recipe, train  # noqa: E402

SMALL = Recipe(learning_rate=0.05, batch_size=8, epochs=4, side=16, checkpoints=(1, 4))


@pytest.fixture(scope="session")
def trained():
    """{epoch: classifier} of a short training."""
    return train("resnet-8", image_set(), SMALL, seed=0)
