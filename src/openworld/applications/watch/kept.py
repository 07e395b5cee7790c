"""What a watch keeps of the images of its last finished periods, for labels that come later; a few bytes an image."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld.applications.estimate.columns import IMAGE_COLUMNS
from openworld.applications.estimate.late_labels import ROW, ImagesAtHand
from openworld.applications.watch.fitted import Watch
from openworld.estimators.engine.temperature import confidences, temperature_of
from openworld.estimators.quote.spans import Span

PERIODS = 60  # that are kept, the last ones; of each the images of its sample


@dataclass(frozen=True, eq=False)
class KeptPeriod:
    """The images of a finished period, or of its sample."""

    number: int
    first: int  # place of its first image among all that were counted
    rows: np.ndarray  # int64[m], places of these images
    predicted: np.ndarray  # int[m], the class that each is named as
    expected: np.ndarray  # float32[m], its calibrated confidence, fixed before any label came
    packed: np.ndarray | None = None  # uint8[k], what files call the images, as compressed JSON

    @classmethod
    def of(cls, watch: Watch, number: int, span: Span, images: np.ndarray | None) -> "KeptPeriod":
        """Keep a span. images: what the files call the images of its sample, or None."""
        outputs = span.sample.outputs
        expected = confidences(outputs.logits, temperature_of(watch.outputs).value).astype(np.float32)
        predicted = outputs.predictions.astype(np.min_scalar_type(outputs.classes))
        packed = None
        if images is not None:
            text = json.dumps(images.tolist(), separators=(",", ":"), ensure_ascii=False)
            packed = np.frombuffer(zlib.compress(text.encode()), np.uint8)
        return cls(number, span.first, span.first + span.sample.rows, predicted, expected, packed)

    @property
    def key(self) -> str:
        """The column of a worksheet that names these images: `id`, or `row` where the files name none."""
        return ROW if self.packed is None else IMAGE_COLUMNS[0]

    def images(self, key: str) -> ImagesAtHand | None:
        """Return the images as a column of a worksheet names them; None where that is not known."""
        if key != ROW and self.packed is None:
            return None
        names = self.rows if key == ROW else json.loads(zlib.decompress(self.packed.tobytes()))
        return ImagesAtHand(np.array(names).astype(str), self.predicted.astype(np.int64), self.expected.astype(float))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays, by the names of entries in a state; without rows where they are all of a period."""
        arrays = {name: getattr(self, name) for name in ("rows", "predicted", "expected", "packed")}
        if self.rows[-1] == self.first + len(self.rows) - 1:
            arrays["rows"] = None
        return {f"kept.{self.number}.{name}": array for name, array in arrays.items() if array is not None}


def kept_of(firsts: Mapping[int, int], arrays: Mapping[str, np.ndarray]) -> tuple[KeptPeriod, ...]:
    """Return the periods that `arrays` of a state hold. firsts: `KeptPeriod.first` by number."""
    kept = []
    for number, first in firsts.items():
        rows, predicted, expected, packed = (
            arrays.get(f"kept.{number}.{name}") for name in ("rows", "predicted", "expected", "packed")
        )
        rows = first + np.arange(len(predicted)) if rows is None else rows
        kept.append(KeptPeriod(number, first, rows, predicted, expected, packed))
    return tuple(kept)
