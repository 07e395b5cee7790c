"""Every public function and class of `openworld.features`, on two images and the embedded backbone."""

import numpy as np
from generated import generated
from judging import new_folder
from PIL import Image

from openworld import backbones, features
from openworld.datasets import ImageSet
from openworld.features import Encoding

FOLDER = new_folder()
ANY_PATH = ("cache", "folder")


def white(number):
    return Image.new("RGB", (4, 4), (number, 255, 255))


IMAGES = ImageSet("two", "", ("cat", "dog"), [0, 1], [0, 1], "white squares", white)
CLIP = backbones.load("embedded")
GIVEN = {"clip": CLIP, "images": IMAGES, "encoding": Encoding(), "encodings": [Encoding()], "cache": FOLDER, "index": 0}
ENCODED = features.encode(CLIP, IMAGES, cache=FOLDER)


def on_images(name):
    function = getattr(features, name)
    known = generated(function, {}).given
    return generated(function, {key: value for key, value in GIVEN.items() if key in known}, free=ANY_PATH)


CALLS = {
    "Encoding": generated(Encoding),
    "FeatureStore": generated(features.FeatureStore, {"folder": FOLDER}, free=ANY_PATH),
    "View": generated(features.View, {"images": np.array([1, 0]), "classes": np.array([0, 1])}),
    "count_looks": generated(features.count_looks, {"encodings": [Encoding(views=2)]}),
    "encoded_size": generated(features.encoded_size, {"config": CLIP.config, "encoding": Encoding(), "count": 3}),
    "random_resized_crop": generated(
        features.random_resized_crop, {"image": white(0), "size": 4, "generator": np.random.default_rng(0)}
    ),
    **{
        name: on_images(name)
        for name in (
            *("encode", "encode_shard", "encode_together", "fingerprint_of", "hold_set", "is_encoded"),
            *("missing_shards", "stream"),
        )
    },
}
RESULTS = frozenset({"Features"})
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = {"default_cache": "no argument"}
