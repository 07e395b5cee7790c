"""The results of decomposed zero-shot accuracy: every part of the features, in every row of images.

Whole features are the same whatever splits them, and have no seeds. A number of several image sets is their mean.
"""

from openworld.evaluations.rows import rows_of_run
from openworld.results import Results, RunFolder, join_seeds

PARTS = {"whole": "whole feature", "semantic": "semantic half", "covariate": "covariate half"}
"""A part of the features -> what tables call it."""

ANY = "any"  # the entity of whole features

RANKS = ("top1", "top5")
FEW_CLASSES = "there are fewer than five classes"


def read_results(run: RunFolder) -> Results:
    return Results("decomposed-zero-shot", join_seeds(rows_of_run(run)))
