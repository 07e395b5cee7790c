"""Images of the conditions: all of them, or those of fewer severities where they would weigh too much."""

from types import SimpleNamespace

import pytest

from openworld.label_free.benchmark import figures
from openworld.label_free.benchmark.arrays import RunArrays
from openworld.results import RunFolder


@pytest.fixture(scope="module")
def seen(estimates_folder):
    return SimpleNamespace(source=RunArrays(RunFolder.read(estimates_folder)))


def test_every_condition_is_shown_with_what_is_right_there(seen, arrays):
    (album,) = figures.albums(seen)
    natural, synthetic = album.parts
    assert (natural.heading, len(natural.images), len(synthetic.images)) == ("Emoji, natural", 3, 12)
    first = natural.images[0]
    assert first.name == "twemoji" and first.caption == f"{100 * arrays.accuracy[:, 0].mean():.1f}\u00a0% right"
    assert first.address.startswith("data:image/png;base64,") and "severity" not in album.caption


@pytest.mark.parametrize(("room", "shown", "said"), [(15, 15, ""), (14, 7, "severity 5 is shown"), (6, 3, "none")])
def test_severities_are_left_out_where_images_weigh_too_much(seen, monkeypatch, room, shown, said):
    size = len(figures.albums(seen)[0].parts[0].images[0].address)
    monkeypatch.setattr(figures, "BYTES", size * room)
    (album,) = figures.albums(seen)
    assert sum(len(part.images) for part in album.parts) == shown and said in album.caption


def test_a_run_without_images_has_no_album(estimates):
    assert figures.albums(SimpleNamespace(source=RunArrays(estimates))) == ()
