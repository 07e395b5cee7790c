"""How a target is cut over time: rows, parts, the calendar; and time stamps that will not do."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.estimators import Outputs
from openworld.estimators.streaming import spans
from openworld.label_free.estimate.periods import as_times, keyed, name_of
from openworld.label_free.estimate.reading import ScoreBlock
from openworld.label_free.settings import Settings

START = np.datetime64("2024-02-28T18:00:00", "s")


def blocks(n, hours=None, size=7):
    times = None if hours is None else START + 3600 * np.asarray(hours)
    for start in range(0, n, size):
        stop = min(start + size, n)
        yield ScoreBlock(Outputs(np.eye(2)[np.arange(start, stop) % 2]), None if times is None else times[start:stop])


def names(cut, n, hours=None):
    times = {}
    found = spans((block.outputs, keys) for block, keys in keyed(blocks(n, hours), cut, n, times))
    return [(name_of(cut, span, times.get(span.key, ("",))[0]), span.sample.n) for span in found]


TIMED = {"timestamps": "time"}


@pytest.mark.parametrize(
    ("cut", "n", "hours", "expected"),
    [
        ({"chunk_rows": 10}, 23, None, [("1 to 10", 10), ("11 to 20", 10), ("21 to 23", 3)]),
        ({"chunks": 4}, 10, None, [("1 to 3", 3), ("4 to 6", 3), ("7 to 8", 2), ("9 to 10", 2)]),
        ({"chunks": 2, **TIMED}, 10, range(10), [("from 2024-02-28 18:00", 5), ("from 2024-02-28 23:00", 5)]),
        ({"period": "1d", **TIMED}, 40, range(40), [("2024-02-28", 6), ("2024-02-29", 24), ("2024-03-01", 10)]),
        (
            {"period": "12h", **TIMED},
            20,
            range(20),
            [("2024-02-28T12", 6), ("2024-02-29T00", 12), ("2024-02-29T12", 2)],
        ),
        ({"period": "month", **TIMED}, 40, range(40), [("2024-02", 30), ("2024-03", 10)]),
        ({"period": "1 Year", **TIMED}, 40, range(40), [("2024", 40)]),
        ({"period": "1w", **TIMED}, 40, range(40), [("2024-02-26", 40)]),  # a Monday
        ({"period": "1d", **TIMED}, 2, [0, 72], [("2024-02-28", 1), ("2024-03-02", 1)]),  # none of those between
    ],
)
def test_how_images_are_cut_and_what_the_parts_are_called(cut, n, hours, expected):
    assert names(Settings(**cut), n, hours) == expected


def test_time_must_not_fall():
    cut = Settings(chunks=2, timestamps="time")
    with pytest.raises(OpenworldError, match=r"must not fall: row 7 is of 2024-02-28T23:00:00, after 2024-02-29T00"):
        list(keyed(blocks(10, [0, 1, 2, 3, 4, 5, 6, 5, 7, 8]), cut, 10, {}))
    with pytest.raises(OpenworldError, match="row 2 is of"):
        list(keyed(blocks(4, [0, 3, 1, 4], size=4), cut, 4, {}))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"chunks": 2, "chunk_rows": 3}, "exclude one another"),
        ({"timestamps": "time"}, "needs to know how to cut"),
        ({"period": "1d"}, "--period needs time stamps"),
        ({"period": "fortnight", "timestamps": "time"}, "the period 'fortnight' is none"),
        ({"period": "0d", "timestamps": "time"}, "the period '0d' is none"),
    ],
)
def test_cuts_that_will_not_do(arguments, words):
    with pytest.raises(OpenworldError, match=words):
        Settings(**arguments)


def test_more_parts_than_images():
    with pytest.raises(OpenworldError, match="--chunks 5 is more than the target's 4 images"):
        list(keyed(blocks(4), Settings(chunks=5), 4, {}))


def test_time_stamps_in_every_form():
    expected = np.datetime64("2024-02-29T12:00:00")
    for values in (["2024-02-29T12:00"], np.array([expected]).astype("M8[ns]"), [1709208000], [1709208000.0]):
        assert as_times(np.asarray(values))[0] == expected
    assert as_times(np.array(["2024-02-29 12:00:00"], dtype=object))[0] == expected


@pytest.mark.parametrize("kind", ["U30", object])
def test_zones_are_converted_to_utc(kind):
    """Without a warning of NumPy's: warnings are errors here."""
    texts = ["2024-02-29T12:00:00Z", "2024-02-29 14:00:00+02:00", "2024-02-29T08:30:00-0330", "2024-02-29T13:00+01"]
    assert (as_times(np.array(texts, kind)) == np.datetime64("2024-02-29T12:00:00")).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["2024-02-29T12:00:00Z", "2024-02-29T13:00:00"], "29T12:00:00Z and 2024-02-29T13:00:00; give all of them one"),
        ([1709208000000], "no seconds since 1970"),
        ([np.nan], "no seconds since 1970"),
        (["yesterday"], "cannot be read"),
        (np.array(["NaT"], "M8[s]"), "1 time stamp.s. are missing"),
    ],
)
def test_time_stamps_that_will_not_do(values, words):
    with pytest.raises(OpenworldError, match=words):
        as_times(np.asarray(values))
