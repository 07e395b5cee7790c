"""The images of a run worth looking at, with their thumbnails."""

from dataclasses import replace

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.results import RecognitionResults, SettingResults
from openworld.evaluations.recognition_metrics import rows_of
from openworld.report.album import KINDS, Album, AlbumImage, AlbumPart, ChosenImage, choose
from openworld.report.data_files import data_address

THUMBNAIL_BYTES = 500_000  # of the page's 1.5 MB; thumbnails beyond it are left out, and the page says so


def albums(results: RecognitionResults) -> list[Album]:
    """An album per setting: of its best learner, first seed."""
    count = {1: 8, 2: 6}.get(len(results.settings), 4)
    left, albums = THUMBNAIL_BYTES, []
    for setting in results.settings:
        kinds = []
        for name, images in shown_images(setting.outcomes[setting.best][0], count).items():
            kept = []
            for image in images:
                left -= len(image.address or "")
                kept.append(image if left >= 0 else replace(image, address=None))
            kinds.append(AlbumPart(KINDS[name], tuple(kept)))
        if kinds:
            albums.append(Album(setting.title, _caption(setting), tuple(kinds)))
    return albums


def shown_images(outcome: Outcome, count: int = 8) -> dict[str, list[AlbumImage]]:
    """The chosen images of one outcome with names and scores, by kind; {} where confidences were not recorded."""
    if "confidence" not in outcome.test.images:
        return {}
    closed_set = outcome.test.closed_set
    if closed_set:  # a new image has no right name that could be missed
        base = rows_of(outcome.test.images, outcome.test.is_base)
        outcome = replace(outcome, test=replace(outcome.test, images=base))
    chosen = choose(outcome.test.images, count)
    return {
        kind: [_shown(outcome, image, by_class=kind.endswith("classes")) for image in picked]
        for kind, picked in chosen.items()
        if not (closed_set and kind == "wrong_new")
    }


def _caption(setting: SettingResults) -> str:
    group, best = setting.group_name, setting.best
    once = f"; of one {group} only the most telling image is shown" if group else ""
    return (
        f"Of {best}, seed {setting.seeds(best)[0]}. Confidence is its softmax among the names of the image's own "
        f"half{once}."
    )


def _shown(outcome: Outcome, chosen: ChosenImage, *, by_class: bool) -> AlbumImage:
    images, names, place = outcome.test.images, outcome.facts["classnames"], chosen.place
    data = outcome.thumbnail(int(images["id"][place]))
    address = None if data is None else data_address("image/png", data)
    name = names[int(images["label"][place])]
    tags = {"side": str(images["side"][place]), "class": name}
    tags["outcome"] = "right" if images["correct"][place] else "wrong"
    value = float(images["score"][place])
    if by_class:
        share = f"{100 * chosen.class_accuracy:.0f}\u00a0%"
        caption = f"{images['side'][place]} · {share} of {chosen.class_images} named right"
        return AlbumImage(address, name, caption, tags, value)
    prediction = int(images["prediction"][place]) if "prediction" in images else -1
    named = f"“{names[prediction]}”" if prediction >= 0 else "something else"
    confidence = f"{100 * float(images['confidence'][place]):.0f}\u00a0%"
    score = f"{value:.2f}".replace("-", "−")
    return AlbumImage(address, name, f"named {named} with {confidence} · baseness\u00a0{score}", tags, value)
