"""A full GPU, acted by a function that has room for so many rows: half as many, said; or a refusal."""

import pytest
import torch

from openworld import OpenworldError
from openworld.core.gpu_memory import BatchSize, keeping_batch


class Room:
    """Has room for `rows` at a time, and notes what was tried."""

    def __init__(self, rows):
        self.rows, self.tried = rows, []

    def __call__(self, rows):
        self.tried.append(rows.stop - rows.start)
        if self.tried[-1] > self.rows:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return list(range(rows.start, rows.stop))


def test_every_row_is_done_once_and_in_order_with_as_many_as_fit(caplog):
    room, size = Room(3), BatchSize(8, "encoding images")
    parts = size.parts(room, 20)
    assert [row for part in parts for row in part] == list(range(20))
    assert room.tried[:3] == [8, 4, 2] and set(room.tried[3:]) == {2}
    assert "encoding images: 8 at a time" in caplog.text and "with 2 at a time" in caplog.text
    size.parts(room, 4)
    assert room.tried[-2:] == [2, 2]  # remembered: what did not fit is not tried again


def test_with_room_enough_nothing_is_said_and_no_row_is_asked_for_once(caplog):
    room = Room(8)
    assert len(BatchSize(8, "encoding images").parts(room, 20)) == 3
    assert room.tried == [8, 8, 4] and not caplog.text
    assert BatchSize(8, "answering").parts(Room(8), 0) == [[]]


def test_one_row_that_does_not_fit_is_refused_with_what_to_do_and_other_errors_pass():
    with pytest.raises(OpenworldError, match="answering with GMoP.*--workers.*--device cpu"):
        BatchSize(4, "answering with GMoP").parts(Room(0), 4)

    def broken(rows):
        raise RuntimeError("a shape is wrong")

    with pytest.raises(RuntimeError, match="a shape is wrong"):
        BatchSize(4, "answering").parts(broken, 4)
    with pytest.raises(RuntimeError, match="a shape is wrong"), keeping_batch(4):
        broken(None)
