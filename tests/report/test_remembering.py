"""What is remembered of an object goes with it."""

import gc
import weakref

from openworld.report.remembering import remembered


class Table:
    """Something that can be asked about."""


def test_a_result_is_made_once_for_an_object_and_its_arguments():
    asked = []

    @remembered
    def length(table, word):
        asked.append(word)
        return [len(word)]

    one, other = Table(), Table()
    assert length(one, "base") is length(one, "base") and length(other, "base") == [4] and length(one, "a") == [1]
    assert asked == ["base", "base", "a"]


def test_the_object_is_not_kept_alive():
    size = remembered(lambda table: 1)
    table = Table()
    size(table)
    gone = weakref.ref(table)
    del table
    gc.collect()
    assert gone() is None
