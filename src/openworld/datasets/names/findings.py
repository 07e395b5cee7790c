"""What an audit says: findings, each of a kind, a severity, the names it is about, and a sentence."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name

SEVERITIES = ("error", "warning", "note")
"""error: classes cannot be told apart, or a sentence cannot be read; warning: numbers will suffer or mislead; note:
worth a look."""

KINDS = (
    "clash",  # names alike, of a base and a new class or of two data sets
    "not a name",
    "duplicate",
    "near-duplicate",  # punctuation, plural, spaces or the order of words
    "synonym",
    "misspelling",
    "order",  # which classes are base depends on how the names were sorted
    "same tokens",
    "unread",  # characters that the tokenizer drops, or knows by their bytes alone
    "too long",
    "many tokens",
    "full stop",  # the end of a name melts into one token with the sentence's full stop
)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with class names: of KINDS and SEVERITIES, and what it does to a result."""

    kind: str
    severity: str
    names: tuple[str, ...]
    sentence: str

    def __post_init__(self):
        for what, value, known in (("kind", self.kind, KINDS), ("severity", self.severity, SEVERITIES)):
            if value not in known:
                raise unknown_name(f"{what} of finding", value, known)
        object.__setattr__(self, "names", tuple(self.names))


@dataclass(frozen=True)
class Audit:
    """All findings on the class names of one data set, the worst first, and checks not made, each with the reason."""

    dataset: str
    classes: int
    findings: tuple[Finding, ...] = ()
    not_made: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity."""
        return {severity: sum(one.severity == severity for one in self.findings) for severity in SEVERITIES}

    @property
    def headline(self) -> str:
        """The audit in one line."""
        return f"{self.dataset}: {self.classes} class names, {count_in_words([self]) or 'nothing found'}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `from_dict` reads them."""
        return asdict(self)

    @staticmethod
    def from_dict(saved: Mapping[str, Any]) -> "Audit":
        """Read what `to_dict` gave."""
        try:
            findings = tuple(Finding(**one) for one in saved["findings"])
            return Audit(saved["dataset"], saved["classes"], findings, tuple(saved["not_made"]))
        except (KeyError, TypeError) as error:
            raise OpenworldError(f"this is no audit as `Audit.to_dict` writes it ({error}).") from error


def count_in_words(audits: Iterable[Audit], severities: Iterable[str] = SEVERITIES) -> str:
    """Return how many findings of each severity there are; "" where there is none."""
    counts = {severity: sum(audit.counts[severity] for audit in audits) for severity in severities}
    named = {severity: severity if count == 1 else f"{severity}s" for severity, count in counts.items()}
    return ", ".join(f"{count} {named[severity]}" for severity, count in counts.items() if count)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with the worst first; those of one severity by kind, those of one kind as they come."""
    return tuple(sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), KINDS.index(one.kind))))
