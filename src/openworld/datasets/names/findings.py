"""What an audit says: findings, each of a kind, a severity, the names it is about, and a sentence."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from openworld._errors import OpenworldError, unknown_name

SEVERITIES = ("error", "warning", "note")
"""error: classes cannot be told apart, or a sentence cannot be read; warning: numbers will suffer or mislead; note:
worth a look."""

KINDS: dict[str, str] = {
    "clash": "names alike, of a base and a new class or of two data sets",
    "not a name": "what stands there says nothing to a text tower",
    "duplicate": "one name twice, upper and lower case being the same",
    "near-duplicate": "names that differ in punctuation, plural, spaces or the order of words",
    "synonym": "two names of one thing, by WordNet",
    "misspelling": "names one letter apart",
    "order": "which classes are base depends on how the names were sorted",
    "same tokens": "two names that the tokenizer reads alike",
    "unread": "characters that the tokenizer drops, or knows by their bytes alone",
    "too long": "the sentence with this name is longer than the text tower reads",
    "many tokens": "a name that falls to pieces",
    "full stop": "punctuation at the end of a name that melts into one token with the sentence's full stop",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with class names.

    Args:
        kind: of KINDS.
        severity: of SEVERITIES.
        names: the class names it is about.
        sentence: what was found, and what it does to a result.

    Raises:
        OpenworldError: an unknown kind or severity.
    """

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
    """All findings on the class names of one data set, the worst first.

    Args:
        dataset: what the names are of.
        classes: how many names.
        findings: in the order of SEVERITIES, then of KINDS.
        not_made: checks that were not made, each with the reason.
    """

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
        """The audit in one line.

        >>> Audit("pets", 37).headline
        'pets: 37 class names, nothing found'
        """
        counts = [f"{count} {severity}{'s' * (count > 1)}" for severity, count in self.counts.items() if count]
        return f"{self.dataset}: {self.classes} class names, {', '.join(counts) or 'nothing found'}"

    def of(self, *kinds: str) -> tuple[Finding, ...]:
        """The findings of some kinds."""
        return tuple(one for one in self.findings if one.kind in kinds)

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


def in_order(findings) -> tuple[Finding, ...]:
    """Findings with the worst first; those of one severity by kind, those of one kind as they come."""
    kinds = list(KINDS)
    return tuple(sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), kinds.index(one.kind))))
