"""Which images are shown, on a table small enough to choose by hand."""

import numpy as np
from made_units import recognition_outcome

from openworld.evaluations.recognition.charts import shown_images
from openworld.report.album import choose

IMAGES = {
    "id": np.array([10, 11, 12, 13, 14, 15]),
    "side": np.array(["base", "base", "base", "new", "new", "new"]),
    "label": np.array([0, 0, 1, 2, 2, 3]),
    "prediction": np.array([1, 1, 1, 3, 2, 3]),
    "correct": np.array([False, False, True, False, True, True]),
    "confidence": np.array([0.6, 0.9, 0.8, 0.7, 0.5, 0.99]),
    "score": np.array([0.5, -0.5, 1.0, 0.0, -1.0, -2.0]),
    "group": np.array([0, 0, 1, 2, 2, 3]),
}


def places(kind, **options):
    return [place for place, *_ in choose(IMAGES, **options)[kind]]


def test_the_surest_mistake_of_each_drawing_comes_first():
    assert places("wrong_base") == [1] and places("wrong_new") == [3]


def test_classes_are_ranked_by_accuracy_with_a_fitting_example():
    assert places("best_classes", count=2) == [5, 2]  # both all right; class 3 is surer
    assert places("worst_classes", count=2) == [1, 3]  # class 0: none right; class 2: half
    assert choose(IMAGES, count=1)["worst_classes"][0][1:] == (0.0, 2)


def outcome(images):
    names = ("ant", "bee", "cat", "dog")
    return recognition_outcome(images, classnames=names, thumbnail=lambda number: b"png" if number == 11 else None)


def test_names_and_scores_are_written_and_thumbnails_shown():
    (shown,) = shown_images(outcome(IMAGES))["wrong_base"]
    assert shown.name == "ant" and shown.address == "data:image/png;base64,cG5n"
    assert shown.caption.replace("\u00a0", " ") == "named “bee” with 90 % · baseness −0.50"
    assert shown_images(outcome(IMAGES))["wrong_new"][0].address is None


def test_no_image_is_shown_as_sure_without_confidences():
    assert shown_images(outcome({name: column for name, column in IMAGES.items() if name != "confidence"})) == {}
