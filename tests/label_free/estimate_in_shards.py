"""`openworld estimate` of images as a process of its own, which writes scores after every few images."""

import sys

from openworld.cli import main
from openworld.label_free.estimate import scoring

WORDS = "estimate --source source --target target --model embedded --estimator AC --device cpu --quiet --out out"


def estimate_in_shards(images):
    """Estimate as in the current folder; a shard holds so many images."""
    scoring.TOGETHER = images
    sys.argv = ["openworld", *WORDS.split()]
    main()
