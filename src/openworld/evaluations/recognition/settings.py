"""Which records belong together: all learners of one setting, the seeds of each in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.outcome import Outcome


@dataclass(frozen=True)
class Setting:
    """What the learners of one table have in common; None for what does not apply.

    `target` is the short name of one of several places where learners that were tuned once are scored.
    """

    task: str
    split: str
    train_domain: str | None
    test_domain: str | None
    backbone: str
    shots: int | None
    target: str | None = None

    @property
    def domains(self) -> str:
        """The domain, or where it was trained and where it was tested."""
        same = self.train_domain == self.test_domain
        return (self.test_domain or "") if same else f"{self.train_domain} → {self.test_domain}"

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results from those of other settings, as columns of data."""
        parts = {"task": self.task, "target": self.target, "domain": self.domains, "shots": self.shots}
        return {name: part for name, part in parts.items() if part}


def by_setting(outcomes: Sequence[Outcome]) -> dict[Setting, dict[str, tuple[Outcome, ...]]]:
    """Every setting in order of first appearance with its learners, and the seeds of each in increasing order.

    Learners that tune nothing and name no shots join every setting that they match.
    """
    known = [setting_of(outcome) for outcome in outcomes]
    settings = list(dict.fromkeys(known))
    found = {}
    for setting in [one for one in settings if one.shots] or settings:
        untuned = replace(setting, shots=None)
        found[setting] = _by_learner(
            outcome
            for outcome, own in zip(outcomes, known, strict=True)
            if own == setting or (outcome.record.tuned_parameters == 0 and own == untuned)
        )
    return found


def setting_of(outcome: Outcome) -> Setting:
    """The setting of an outcome."""
    record = outcome.record
    names = (record.task, record.split, record.train_domain, record.test_domain, record.backbone)
    return Setting(*names, record.shots or None, record.target)


def titles(settings: Sequence[Setting]) -> dict[Setting, str]:
    """A short title of every setting: the task, and whatever else differs between the settings."""
    parts = [_parts(setting) for setting in settings]
    differing = [key for key in parts[0] if len({own[key] for own in parts}) > 1] if len(parts) > 1 else ["task"]
    joined = (" · ".join(filter(None, (own[key] for key in differing))) for own in parts)
    return dict(zip(settings, joined, strict=True))


def _by_learner(outcomes) -> dict[str, tuple[Outcome, ...]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.record.learner, []).append(outcome)
    return {learner: tuple(sorted(own, key=lambda outcome: outcome.record.seed)) for learner, own in found.items()}


def _parts(setting: Setting) -> Mapping[str, str]:
    shots = f"{setting.shots} shot{'s' * (setting.shots > 1)}" if setting.shots else "no shots"
    place = (setting.target, "", "") if setting.target else (setting.task, setting.split, setting.domains)
    return dict(zip(("task", "split", "domains", "shots", "on"), (*place, shots, setting.backbone), strict=True))
