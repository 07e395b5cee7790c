"""reference: a third model's calibrated posterior says which images are base and which names are right (FRAP).

The premise is that this model is right where the learner is wrong: its mistakes are its own. The zero-shot model that a
learner was tuned from is no such model: the learner knows more of base images than it, and is judged too low.
"""

from dataclasses import dataclass

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.open_world.fitted import NUMBERS, OpenWorldEstimate, OpenWorldEstimator, of_proxies
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.estimators.open_world.posteriors import TINY, NameRule, at_share


@checked
@dataclass(frozen=True)
class ThirdModel(OpenWorldEstimator):
    """With q = softmax(R / T) of the third model: z = sum of q over base names, a = q[base name], b = q[new name].

    T is fitted on base validation images among base names. Where `new_share` is given, z moves to it, and a and b with
    z and 1 - z.

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))
    >>> base, stream = {"logits": logits[:60], "labels": [0, 1] * 30}, {"logits": logits}
    >>> given = [OpenWorldOutputs(**one, n_base=2, reference=one["logits"]) for one in (base, stream)]
    >>> round(ThirdModel().fit(given[0]).estimate(given[1]).new_share, 3)
    0.5
    """

    name, paper, summary = "reference", "Li et al., 2026", "a third model's posterior"
    premise = "a third model, not the one that the learner was tuned from, is right where it is wrong"
    needs, gives = ("labels", "logits", "reference"), NUMBERS

    def learn(self, validation: OpenWorldOutputs) -> NameRule:
        """Fit T of the third model; refuse zero-shot."""
        if validation.reference_kind == "zero-shot":
            raise OpenworldError(
                "the reference is the zero-shot model that the learner was tuned from, which is no third model: its "
                "mistakes are the learner's. Give another model's, or estimate by positive-unlabelled."
            )
        return learn_reference(validation)

    def read(self, known: NameRule, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Read all off the third model's posterior."""
        reference = stream.array("reference")
        base = known.base(reference, stream.base_names)
        moved = base if new_share is None else at_share(base, 1 - new_share)
        right = known.right_of(reference, stream.base_prediction) * moved / base.clip(TINY)
        new_right = known.right_of(reference, stream.new_prediction) * (1 - moved) / (1 - base).clip(TINY)
        return of_proxies(stream, right, new_right, moved, details={"reference_temperature": known.temperature})


def learn_reference(validation: OpenWorldOutputs) -> NameRule:
    """Fit the temperature of the reference on labelled base images, among base names."""
    return NameRule.of(validation.array("reference")[:, : validation.n_base], validation.array("labels"))
