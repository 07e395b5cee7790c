"""References that know nothing, to see what an estimator owes to a good one.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section 5.5: rows drawn from a
Dirichlet distribution are taken for similarities. A uniform reference is its limit, and has a closed form: the score
becomes w_b ||p_b||^2 + w_f / C.
"""

import numpy as np

from openworld._arrays import MANY, require_at_least, require_at_most
from openworld._types import checked


@checked
def uniform_reference(n: int, classes: int) -> np.ndarray:
    """Every class equally similar to every image: zeros float64[n, classes]."""
    require_at_least(1, n=n, classes=classes)
    require_at_most(MANY, numbers=n * classes)
    return np.zeros((n, classes))


@checked
def dirichlet_reference(n: int, classes: int, *, seed: int) -> np.ndarray:
    """Rows drawn from Dirichlet(1, ..., 1), float64[n, classes] in [0, 1]; another seed for source and target.

    >>> dirichlet_reference(2, 3, seed=0).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    require_at_least(1, n=n, classes=classes)
    require_at_most(MANY, numbers=n * classes)
    return np.random.default_rng(seed).dirichlet(np.ones(classes), n)
