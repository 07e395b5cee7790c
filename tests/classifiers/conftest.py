import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_up import SMALL, create_model, image_set  # noqa: E402

from openworld.classifiers import train  # noqa: E402


@pytest.fixture(scope="session")
def trained():
    """{epoch: classifier} of a short training."""
    return train("resnet-8", image_set(), SMALL, seed=0)


@pytest.fixture
def timm(monkeypatch):
    """A stand-in of timm with one model: timm itself needs torchvision, which is not here."""
    module = ModuleType("timm")
    module.create_model = create_model
    monkeypatch.setitem(sys.modules, "timm", module)
