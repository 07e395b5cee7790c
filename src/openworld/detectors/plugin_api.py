"""What detectors are made of: what ours share, for writing yet another one (docs/plug-in-detector.md).

What is seen of images: `Activations`, `Head`. A detector: `Fittable`, with a `DetectorCard`, brings `fit`. A fitted
detector: `FittedDetector`, and `fit`, which gathers and learns. Statistics of training images: `Mean`, `Products`,
`ClassSums`, `Bank`, `Collected`, and what they give to `learn`: `Moments`, `ClassTotals`, `Rows`. Of many numbers:
`percentile`. Of a query and a bank: `largest_products`.
"""

from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.bank import Bank, Rows, largest_products
from openworld.detectors.engine.fit_statistics import DetectorCard, Fittable, fit
from openworld.detectors.engine.fitted import FittedDetector
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.statistics import ClassSums, ClassTotals, Collected, Mean, Moments, Products, percentile

__all__ = [
    "Activations",
    "Bank",
    "ClassSums",
    "ClassTotals",
    "Collected",
    "DetectorCard",
    "Fittable",
    "FittedDetector",
    "Head",
    "Mean",
    "Moments",
    "Products",
    "Rows",
    "fit",
    "largest_products",
    "percentile",
]
