"""Which records belong together: all learners of one setting, the seeds of each in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.outcome import Outcome


@dataclass(frozen=True)
class Setting:
    """What the learners of one table have in common, by the names of a record; None for what does not apply.

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

    @property
    def title_parts(self) -> tuple[str, ...]:
        """What a title may be made of: the task or target, the split, the domains, the shots, the backbone."""
        shots = f"{self.shots} shot{'s' * (self.shots > 1)}" if self.shots else "no shots"
        place = (self.target, "", "") if self.target else (self.task, self.split, self.domains)
        return (*place, shots, self.backbone)


def setting_of(outcome: Outcome) -> Setting:
    """The setting of an outcome."""
    parts = {name: outcome.facts.get(name) for name in Setting.__annotations__}
    return Setting(**parts | {"shots": parts["shots"] or None})


def by_setting(outcomes: Sequence[Outcome]) -> dict[Setting, dict[str, tuple[Outcome, ...]]]:
    """Every setting in order of first appearance with its learners, and the seeds of each in increasing order.

    Learners that tune nothing and name no shots join every setting that they match.
    """
    settings = dict.fromkeys(map(setting_of, outcomes))
    by_setting = {}
    for setting in [setting for setting in settings if setting.shots] or settings:
        of_learner: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            untuned = outcome.facts.get("tuned_parameters") == 0 and setting_of(outcome) == replace(setting, shots=None)
            if untuned or setting_of(outcome) == setting:
                of_learner.setdefault(outcome.learner, []).append(outcome)
        by_seed = {learner: sorted(runs, key=lambda run: run.seed) for learner, runs in of_learner.items()}
        by_setting[setting] = {learner: tuple(runs) for learner, runs in by_seed.items()}
    return by_setting


def titles(settings: Sequence[Setting]) -> dict[Setting, str]:
    """A short title of every setting: the task, and whatever else differs between the settings."""
    by_part = zip(*(setting.title_parts for setting in settings), strict=True)
    differing = [at for at, part in enumerate(by_part) if len(set(part)) > 1] if len(settings) > 1 else [0]
    return {setting: " · ".join(filter(None, (setting.title_parts[at] for at in differing))) for setting in settings}
