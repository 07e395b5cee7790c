"""What stands at the end of a notebook's cell: short, however much a result holds."""

import importlib
import inspect
import re
from dataclasses import fields, is_dataclass

import numpy as np

import openworld
from openworld import datasets
from openworld.core.representation import short_repr
from openworld.features import Features

ROOMS = ("metrics", "estimators", "labels", "detectors", "datasets", "features", "learners", "shifts", "classifiers")
ROOMS += ("backbones",)
HELD = re.compile(r"^(?!.*Callable).*(ndarray|Tensor|Sharded)")


def test_every_public_dataclass_that_holds_arrays_has_it():
    found = {
        thing
        for room in ROOMS
        for module in [importlib.import_module(f"{openworld.__name__}.{room}")]
        for thing in [getattr(module, name) for name in module.__all__]
        if inspect.isclass(thing) and is_dataclass(thing) and any(HELD.search(str(one.type)) for one in fields(thing))
    }
    without = {thing.__qualname__ for thing in found if thing.__repr__ is not short_repr}
    assert len(found) > 20 and not without


def test_an_image_set_and_encoded_images():
    images = datasets.load("emoji-concepts")
    shown = repr(images)
    assert "emoji-concepts" in shown and "int64[" in shown and "100 in all" in shown and len(shown) < 600
    rows = np.arange(50_000)
    features = Features(np.zeros((50_000, 4), np.float32), rows, rows, rows, tuple(map(str, rows)), "a" * 64)
    assert "float32[50000, 4]" in repr(features) and "50000 in all" in repr(features) and len(repr(features)) < 600
