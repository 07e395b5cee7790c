import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_up import SMALL, image_set  # noqa: E402

from openworld.classifiers import train  # noqa: E402


@pytest.fixture(scope="session")
def trained():
    """{epoch: classifier} of a short training."""
    return train("resnet-8", image_set(), SMALL, seed=0)
