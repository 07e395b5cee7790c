"""Every public function and class of `openworld.classifiers` that needs no training."""

import torch
from generated import generated
from judging import new_folder

from openworld import classifiers
from openworld.classifiers import Classifier, Preprocess, Recipe

FOLDER = new_folder()
PREPARED = Preprocess(8, 8, "squash", (0.5,) * 3, (0.5,) * 3)
NETWORK = classifiers.build("convnet", 2, 8)
NAMES = ("cat", "dog")
SMALL = Classifier(NETWORK, NAMES, PREPARED, "convnet")
(FOLDER / "mine.safetensors").write_bytes(classifiers.files(SMALL)["weights.safetensors"])
torch.save(NETWORK.state_dict(), FOLDER / "mine.pth")

CALLS = {
    "Classifier": generated(
        Classifier,
        {"module": NETWORK, "classnames": NAMES, "preprocess": PREPARED, "architecture": "convnet"},
        free=("architecture",),
    ),
    "Preprocess": generated(Preprocess, {name: getattr(PREPARED, name) for name in Preprocess.__annotations__}),
    "Recipe": generated(Recipe, {"epochs": 3}),
    "build": generated(classifiers.build, {"architecture": "convnet", "classes": 2, "side": 8}),
    "describe": generated(
        classifiers.describe,
        {"path": FOLDER / "mine.onnx", "classnames": NAMES, "preprocess": PREPARED},
        free=("path",),
    ),
    "files": generated(classifiers.files, {"classifier": SMALL}),
    "from_checkpoint": generated(
        classifiers.from_checkpoint, {"place": FOLDER / "mine.pth", "architecture": "convnet", "classnames": NAMES}
    ),
    "from_timm": generated(classifiers.from_timm, {"network": NETWORK, "classnames": NAMES}, free=("name",)),
    "from_weights": generated(
        classifiers.from_weights,
        {
            "architecture": "convnet",
            "weights": FOLDER / "mine.safetensors",
            "classnames": NAMES,
            "preprocess": PREPARED,
        },
    ),
    "load": generated(classifiers.load, {"saved": classifiers.files(SMALL)}, free=("architecture",)),
    "published": generated(classifiers.published, {"dataset": "cifar10"}, free=("dataset",)),
    "published_architectures": generated(
        classifiers.published_architectures, {"dataset": "cifar10"}, free=("dataset",)
    ),
    "save": generated(classifiers.save, {"classifier": SMALL, "folder": FOLDER / "saved"}, free=("folder",)),
}
RESULTS = frozenset({"Architecture", "PublishedTraining"})
"""Classes of visible dicts; nobody makes them by hand."""
ELSEWHERE = {"train": "a training, in tests/classifiers/test_training.py"}
