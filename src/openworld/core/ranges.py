"""Ranges of numbers, as types that settings and arguments are annotated with."""

import math
import operator
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class Range:
    """Annotates a number with the least and the most that it may be: `Annotated[int, Range(1)]`.

    `ends` says as in mathematics whether these two may be: "(]" for above the least, at most the most.
    """

    least: float
    most: float = math.inf
    ends: str = "[]"

    def holds(self, number: float) -> bool:
        above = operator.lt if self.ends[0] == "(" else operator.le
        below = operator.lt if self.ends[1] == ")" else operator.le
        return above(self.least, number) and below(number, self.most)

    @property
    def words(self) -> str:
        if self.most == math.inf:
            return f"a number above {self.least}" if self.ends[0] == "(" else f"{self.least} or more"
        words = {"[]": "from {} to {}", "[)": "from {} to below {}", "(]": "above {}, at most {}"}
        return "a number " + words.get(self.ends, "above {} and below {}").format(self.least, self.most)


Limit = Annotated[float, "may be infinite"]
"""Annotates a number that may be infinite; any other float is finite."""
Count = Annotated[int, Range(0)]
Positive = Annotated[int, Range(1)]
AboveZero = Annotated[float, Range(0, ends="(]")]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1)]
Fraction = Annotated[float, Range(0, 1, "()")]
Percent = Annotated[float, Range(0, 100)]
