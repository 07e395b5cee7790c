"""Classifiers of a closed set of classes: the models whose accuracy is judged, trained here or brought along.

    trained = classifiers.train("resnet-8", images, classifiers.Recipe(checkpoints=(5, 20)), seed=0)
    logits = trained[20].logits(test)
    classifiers.save(trained[20], "runs/resnet-8")
    preprocess = classifiers.Preprocess(256, 224, "shortest", mean, std)
    mine = classifiers.Classifier(my_module, classnames, preprocess, "any name")

    exported = classifiers.load("mine.onnx")
    published = classifiers.from_checkpoint("resnet50-11ad3fa6.pth", classnames=names)

Networks: `ARCHITECTURES` for small images, "timm:NAME", or "package.module:function" for any other.
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.backbones.preprocess import Preprocess
    from openworld.classifiers.architectures import ARCHITECTURES, Architecture, build
    from openworld.classifiers.checkpoints import load as from_checkpoint
    from openworld.classifiers.classifier import Classifier
    from openworld.classifiers.exported import describe
    from openworld.classifiers.recipe import (
        EMBEDDED,
        PUBLISHED,
        SEEDS,
        PublishedTraining,
        Recipe,
        published,
        published_architectures,
    )
    from openworld.classifiers.serialization import files, from_timm, from_weights, load, save
    from openworld.classifiers.training import VERSION, train

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "Classifier",
    "EMBEDDED",
    "PUBLISHED",
    "Preprocess",
    "PublishedTraining",
    "Recipe",
    "SEEDS",
    "VERSION",
    "build",
    "describe",
    "files",
    "from_checkpoint",
    "from_timm",
    "from_weights",
    "load",
    "published",
    "published_architectures",
    "save",
    "train",
]
