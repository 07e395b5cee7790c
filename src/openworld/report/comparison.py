"""A tested difference of two learners, and the verdict on it in words."""

from dataclasses import dataclass, replace

from openworld.report.sentences import HOLM as HOLM
from openworld.results import significant


@dataclass(frozen=True)
class Comparison:
    """`learner` minus `other` in OpenworldAUC on the same images; `p` is after Holm's correction over the table.

    p is None, with a `reason`, where no error of the difference is known. shared: on how many images both were scored,
    where either was scored on others too; the test is on these alone.
    """

    learner: str
    other: str
    difference: float | None
    p: float | None
    reason: str | None = None
    shared: int | None = None

    @property
    def better(self) -> bool:
        """Whether `learner` is shown to be better."""
        return significant(self.p) and self.difference > 0

    @property
    def worse(self) -> bool:
        """Whether `learner` is shown to be worse."""
        return significant(self.p) and self.difference < 0

    @property
    def differs(self) -> bool:
        """Whether a difference is shown at all."""
        return self.better or self.worse

    @property
    def p_words(self) -> str:
        """The p-value as one writes it, kept on one line.

        >>> Comparison("GMoP", "CoOp", 0.1, 0.031).p_words
        'p\xa0.03'
        """
        if self.p is None:
            return "not testable"
        shared = f" on {self.shared:,} shared images" if self.shared else ""
        if self.p < 0.001:
            return f"p\u00a0<\u00a0.001{shared}"
        return "p\u00a0" + f"{self.p:.{3 if self.p < 0.01 else 2}f}".removeprefix("0") + shared

    @property
    def words(self) -> str:
        """The verdict: better than, worse than, or does not differ from the other."""
        if self.p is None:
            return f"cannot be tested against {self.other}: {self.reason}"
        if not self.differs:
            return f"does not differ from {self.other} ({self.p_words})"
        return f"{'better' if self.better else 'worse'} than {self.other} ({self.p_words})"

    @property
    def short_words(self) -> str:
        """The verdict where the other learner is named elsewhere.

        >>> Comparison("GMoP", "CoOp", 0.1, 0.031).short_words
        'better, p\xa0.03'
        """
        if self.p is None:
            return self.p_words
        return f"{'better' if self.better else 'worse' if self.worse else 'does not differ'}, {self.p_words}"

    def reversed(self) -> "Comparison":
        """The same test told from the other learner's side."""
        difference = None if self.difference is None else -self.difference
        return replace(self, learner=self.other, other=self.learner, difference=difference)

    def seen_from(self, learner: str) -> "Comparison":
        """The same test told from the side of one of the two."""
        return self if self.learner == learner else self.reversed()
