"""Pictures of the conditions: all of them, or those of fewer severities where they would weigh too much."""

import pytest

from openworld.evaluations.accuracy_estimation import album
from openworld.evaluations.accuracy_estimation.run import load_estimates


@pytest.fixture(scope="module")
def run(estimates_folder):
    return load_estimates(estimates_folder)


def test_every_condition_is_shown_with_what_is_right_there(run):
    (found,) = album.albums(run)
    natural, synthetic = found.kinds
    assert (natural.heading, len(natural.pictures), len(synthetic.pictures)) == ("Emoji, natural", 3, 12)
    first = natural.pictures[0]
    assert first.name == "twemoji" and first.told == f"{100 * run.accuracy[:, 0].mean():.1f}\u00a0% right"
    assert first.address.startswith("data:image/png;base64,") and "severity" not in found.told


@pytest.mark.parametrize(("room", "shown", "said"), [(15, 15, ""), (14, 7, "severity 5 is shown"), (6, 3, "none")])
def test_severities_are_left_out_where_pictures_weigh_too_much(run, monkeypatch, room, shown, said):
    size = len(album.albums(run)[0].kinds[0].pictures[0].address)
    monkeypatch.setattr(album, "BYTES", size * room)
    (found,) = album.albums(run)
    assert sum(len(kind.pictures) for kind in found.kinds) == shown and said in found.told


def test_a_run_without_pictures_has_no_album(estimates):
    assert album.albums(estimates) == []
