"""Generation: resumed at any point it gives the same bytes; screens, memory, and folders of something else."""

import json

import numpy as np
import pytest
import torch

from openworld.core.errors import OpenworldError
from openworld.shifts import ShiftGrid
from openworld.shifts.synthesis import Screen, generate, plan_synthesis, read_generated
from openworld.shifts.synthesis.generated_set import TABLE
from openworld.shifts.synthesis.generating import read_journal
from openworld.tables.parquet import decode_table

MADE = ("manifest.json", "images.parquet")


def bytes_of(folder):
    images = sorted(path.relative_to(folder) for path in folder.rglob("*.png"))
    return {str(path): (folder / path).read_bytes() for path in (*images, *MADE)}


@pytest.fixture
def whole(plan, painter, tmp_path):
    generate(plan, painter(), tmp_path / "whole")
    return bytes_of(tmp_path / "whole")


def test_all_is_made_in_batches_and_told(plan, painter, tmp_path):
    own, told = painter(), []
    found = generate(plan, own, tmp_path / "set", progress=lambda *counts: told.append(counts))
    assert (len(found), found.refused) == (15, 0)
    assert own.sizes == [4, 4, 4, 3]
    assert told == [(4, 15), (8, 15), (12, 15), (15, 15)]
    assert found.about["report"] == plan.report()


@pytest.mark.parametrize("most", [0, 1, 6])
def test_it_goes_on_where_it_was_cut(plan, painter, tmp_path, whole, most):
    with pytest.raises(KeyboardInterrupt):
        generate(plan, painter(most), tmp_path / "cut", batch=3 if most > 1 else 1)
    with pytest.raises(OpenworldError, match="no finished set"):
        read_generated(tmp_path / "cut")
    later = painter()
    generate(plan, later, tmp_path / "cut", batch=2)
    assert len(later.painted) == 15 - (most // 3 * 3 if most > 1 else most)
    assert bytes_of(tmp_path / "cut") == whole
    assert len(generate(plan, painter(most=0), tmp_path / "cut")) == 15  # read and not painted


def test_a_torn_line_and_a_damaged_file_are_made_again(plan, painter, tmp_path, whole):
    folder = tmp_path / "whole"
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    damaged = folder / plan.commission(2).file
    damaged.write_bytes(b"nothing")
    (folder / plan.commission(5).file).unlink()
    later = painter()
    generate(plan, later, folder)
    assert [order.number for order in later.painted] == [2, 5, 14]
    assert sorted(json.loads(line)["number"] for line in journal.read_text().splitlines()) == [*range(15)]
    assert bytes_of(folder) == whole


def test_a_screen_gets_other_seeds_and_then_a_refusal(plan, painter, tmp_path):
    forbidden = {plan.commission(number, attempt).seed for number, attempt in ((1, 0), (4, 0), (4, 1), (9, 0), (9, 1))}
    colours = {tuple(seed.to_bytes(8, "big")[:3]) for seed in forbidden}
    screen = Screen("colours", lambda images: [one.getpixel((0, 0)) not in colours for one in images], attempts=2)
    own = painter()
    found = generate(plan, own, tmp_path / "set", screen=screen)
    assert (len(found), found.refused, found.about["refused"]) == (13, 2, 2)
    assert len(own.painted) == 15 + 3
    rows = [json.loads(line) for line in (tmp_path / "set" / "journal.jsonl").read_text().splitlines()]
    assert [row["attempt"] for row in rows[:5]] == [0, 1, 0, 0, None]
    assert found.images.image(1).getpixel((0, 0)) == tuple(plan.commission(1, 1).seed.to_bytes(8, "big")[:3])
    assert found.grid.counts.tolist() == [[4, 4], [5, 0]]
    table = decode_table((tmp_path / "set" / TABLE).read_bytes())
    assert table["seed"][:3].tolist() == [plan.commission(number, int(number == 1)).seed for number in range(3)]
    again = painter(most=0)
    assert len(generate(plan, again, tmp_path / "set", screen=screen)) == 13
    nothing, once = painter(), Screen("none", lambda images: [False] * len(images), attempts=1)
    found = generate(plan, nothing, tmp_path / "none", screen=once)
    assert (len(found), found.refused, len(nothing.painted)) == (0, 15, 15)


def test_memory_that_runs_out_halves_the_batch(plan, painter, tmp_path, whole):
    tried = []

    class Small(painter):
        def paint(self, commissions):
            tried.append(len(commissions))
            if len(commissions) > 2:
                raise torch.OutOfMemoryError("full")
            return super().paint(commissions)

    own = Small()
    generate(plan, own, tmp_path / "small", batch=9)
    assert tried == [9, 4, *own.sizes] and own.sizes == [2] * 7 + [1]
    assert bytes_of(tmp_path / "small") == whole


def test_a_folder_of_something_else_is_refused(plan, painter, tmp_path, whole):
    none = np.zeros(len(plan.prompts), int)
    other = plan_synthesis(plan.prompts, ShiftGrid(none, none, (1, 1)), 2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for words, wanted, by, folder, screen in (
        ("begun with another painter", plan, painter(about={"name": "other"}), "whole", None),
        ("begun with another screen", plan, painter(), "whole", Screen("all", lambda images: [True] * len(images))),
        ("begun with another plan", other, painter(), "whole", None),
        ("holds other files", plan, painter(), "mine", None),
    ):
        with pytest.raises(OpenworldError, match=words):
            generate(wanted, by, tmp_path / folder, screen=screen)


def test_scratch_files_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / "cell").mkdir()
    scratch, image = tmp_path / "cell" / ".1.png.0a1b2c3d.writing", tmp_path / "cell" / "1.png"
    for path in (scratch, image):
        path.write_bytes(b"\x89PNG")
    assert read_journal(tmp_path, 1) == {}
    assert image.exists() and not scratch.exists()


def test_painters_and_screens_that_miscount_are_refused(plan, painter, tmp_path):
    class Short(painter):
        def paint(self, commissions):
            return super().paint(commissions)[1:]

    with pytest.raises(OpenworldError, match="3 images for 4 commissions"):
        generate(plan, Short(), tmp_path / "a")
    with pytest.raises(OpenworldError, match="0 answers for 4 images"):
        generate(plan, painter(), tmp_path / "b", screen=Screen("none", lambda images: []))

    class Full(painter):
        def paint(self, commissions):
            raise torch.OutOfMemoryError("full")

    with pytest.raises(OpenworldError, match="one image does not fit"):
        generate(plan, Full(), tmp_path / "c")
