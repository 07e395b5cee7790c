"""The images of a run worth looking at, with their thumbnails."""

from dataclasses import replace

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.summary import Summary, Table
from openworld.report.data_files import data_address
from openworld.report.page import Album, Kind
from openworld.report.pictures import KINDS, Chosen, Shown, choose

PICTURE_BYTES = 500_000  # of the page's 1.5 MB; thumbnails beyond it are left out, and the page says so


def albums(summary: Summary) -> list[Album]:
    count = {1: 8, 2: 6}.get(len(summary.tables), 4)
    left, found = PICTURE_BYTES, []
    for table in summary.tables:
        kinds = []
        for name, pictures in show(table.best.outcomes[0], count).items():
            kept = []
            for picture in pictures:
                left -= len(picture.address or "")
                kept.append(picture if left >= 0 else replace(picture, address=None))
            kinds.append(Kind(KINDS[name], tuple(kept)))
        if kinds:
            found.append(Album(table.title, _told(table), tuple(kinds)))
    return found


def _told(table: Table) -> str:
    best, group = table.best, table.group_name
    once = f"; of one {group} only the most telling picture is shown" if group else ""
    return (
        f"Of {best.learner}, seed {best.seeds[0]}. Confidence is its softmax among the names of the picture's own half"
        f"{once}."
    )


def show(outcome: Outcome, count: int = 8) -> dict[str, list[Shown]]:
    """The chosen pictures of one outcome with names and scores, by kind; {} where confidences were not recorded."""
    if "confidence" not in outcome.images:
        return {}
    chosen = choose(outcome.images, count)
    return {
        kind: [_shown(outcome, one, by_class=kind.endswith("classes")) for one in picked]
        for kind, picked in chosen.items()
    }


def _shown(outcome: Outcome, chosen: Chosen, *, by_class: bool) -> Shown:
    images, names, place = outcome.images, outcome.classnames, chosen.place
    data = outcome.picture(int(images["id"][place]))
    address = None if data is None else data_address("image/png", data)
    name = names[int(images["label"][place])]
    if by_class:
        share = f"{100 * chosen.class_accuracy:.0f}\u00a0%"
        return Shown(address, name, f"{images['side'][place]} · {share} of {chosen.class_images} named right")
    prediction = int(images["prediction"][place]) if "prediction" in images else -1
    said = f"“{names[prediction]}”" if prediction >= 0 else "something else"
    sure = f"{100 * float(images['confidence'][place]):.0f}\u00a0%"
    score = f"{float(images['score'][place]):.2f}".replace("-", "−")
    return Shown(address, name, f"named {said} with {sure} · baseness\u00a0{score}")
