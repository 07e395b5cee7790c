"""What nobody can know of a stream without a premise, in words; the premises themselves stand with the estimators.

Scores and softmaxes say what images look like to the learner, not what they are: without a premise nothing follows.
"""

NOTHING = "nothing"
NO_PREMISE = "nothing is assumed"
NOT_IDENTIFIED = (
    "the same scores and logits go with very different OpenworldAUC, depending on which images are new; a premise, or "
    "labels, must say that"
)
QUOTED_FIRST = ("positive-unlabelled", "hybrid", "thresholded", "own", "reference")
"""Whose numbers are told first: of the estimators that have what they need, the first of these."""
