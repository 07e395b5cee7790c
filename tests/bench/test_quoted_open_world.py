"""Streams with new classes: base classes alone train, shares are kept; and the bench prints what its rows say."""

import new_classes
import numpy as np
import open_world
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def drawn():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(new_classes, "SHIFTED", 1)
        patch.setattr(new_classes, "BASE_SHARES", (0.2, 0.8))
        return list(new_classes.streams("digits", 0))


def test_streams_have_their_share_and_the_source_is_of_base_classes(drawn):
    assert {one.shift.split("--")[0] for one in drawn} >= {"same", "easier"}
    for one in drawn:
        assert np.all(one.source.labels < one.source.n_base)
        assert np.mean(one.stream.labels < one.stream.n_base) == pytest.approx(one.base_share, abs=0.01)
    learners = {one.learner: one for one in reversed(drawn) if one.shift == new_classes.HOME}
    names, zero_shot = (learners[name].stream for name in ("names", "zero-shot"))
    assert np.array_equal(names.new_logits, zero_shot.new_logits)  # new names were not tuned
    assert names.base_right[names.labels < 5].mean() > zero_shot.base_right[zero_shot.labels < 5].mean()


def test_the_rows_say_what_is_true_and_the_tables_count_them(drawn, capsys):
    found = [
        open_world.row_of(one, *each) for one in drawn if one.learner == "zero-shot" for each in one.by_reference()
    ]
    table = pd.DataFrame([row | {"half_width": None} for row in found])
    assert set(table.side) == {"home", "away", "easier"} and len(table) == 3 * len(drawn) / 4
    open_world.report_bounds(table)
    printed = capsys.readouterr().out
    home = table[(table.side == "home") & (table.reference_kind == "zero-shot")]
    told = home[home.bound.notna()]
    held = 100 * np.mean(told.true <= told.bound)
    assert f"| digits (chose), at home | {len(home)} | " in printed
    assert f"| {held:.0f} |" in printed
