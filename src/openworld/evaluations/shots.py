"""How many images learners were trained on, in words."""

from collections.abc import Iterable, Mapping

from openworld.datasets import DATASETS
from openworld.report.sentences import counted


def training_images(records: Iterable[Mapping]) -> dict[str, int] | None:
    """Return the fewest and the most training images of a class that any record holds; None where none does."""
    spans = [record["training_images"] for record in records if record.get("training_images")]
    if not spans:
        return None
    return {"fewest": min(span["fewest"] for span in spans), "most": max(span["most"] for span in spans)}


def shots_in_words(shots: int | None, had: Mapping[str, int] | None) -> str:
    """Return the shots as they were asked for, or what there was where it is less.

    >>> shots_in_words(16, None), shots_in_words(1, {"fewest": 1, "most": 1})
    ('16 shots', '1 shot')
    >>> shots_in_words(16, {"fewest": 6, "most": 6}), shots_in_words(16, {"fewest": 1, "most": 6})
    ('6 shots (16 asked for)', '1 to 6 shots (16 asked for)')
    """
    if not shots:
        return ""
    if had is None or had["fewest"] >= shots:
        return counted(shots, "shot")
    span = f"{had['fewest']}" if had["fewest"] == had["most"] else f"{had['fewest']} to {had['most']}"
    return f"{span} {'shot' if had['most'] == 1 else 'shots'} ({shots} asked for)"


def shots_asked(shots: str | int, *datasets: str) -> str:
    """The shots of a spec in words; whether images of one's own are as many is known when they have been read.

    >>> shots_asked(16, "emoji-concepts"), shots_asked(16, "my/images")
    ('16 shots', 'up to 16 shots')
    """
    all_cards = all(name in DATASETS for name in datasets)
    return f"{'' if all_cards else 'up to '}{shots} shots"
