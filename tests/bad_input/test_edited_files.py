"""JSON that commands keep and read again: whatever was edited, cut or nested in it is read, or refused in a sentence.

A file that decides (thresholds, a watch and its state, a plan of labels, a record) is refused whatever was edited.
"""

import json
import random

import pytest
from kept_files import KEPT, edits, texts

from openworld import OpenworldError

SEALED = {"of_thresholds", "of_watch", "of_state", "of_plan", "of_run", "of_record"}
MOST = 24  # edits of a file in the suite, drawn anew with each change of its content


@pytest.fixture(scope="module", params=KEPT, ids=lambda make: make.__name__)
def kept(request, kept_of):
    found = kept_of(request.param)
    good = found.path.read_bytes()
    yield found, request.param.__name__
    found.path.write_bytes(good)
    found.read()


def some(all_of_them, content):
    found = list(all_of_them)
    versions = [(name, changed) for name, changed in found if name.startswith("version =")]
    return versions + random.Random(json.dumps(content)).sample(found, min(MOST, len(found)))


def refused(kept, name):
    """Whether it is refused; any other error is one of the test."""
    try:
        kept.read()
    except OpenworldError as error:
        assert "\n" not in str(error), f"{kept.name}, {name}: more than a sentence"
        return True
    except Exception as error:
        raise AssertionError(f"{kept.name}, {name}: {type(error).__name__}: {error}") from error
    return False


def test_every_edit_by_hand_is_read_or_refused_and_refused_where_it_decides(kept):
    (kept, name_of), good = kept, kept[0].path.read_bytes()
    content, sealed = kept.content(), name_of in SEALED
    assert not refused(kept, "as it was written")
    for name, changed in some(edits(content), content):
        if name.startswith(("about.made", "without about.made")):
            continue  # how it was made is no part of what a watch is
        kept.put_text(json.dumps(changed | {"seal": "0" * 64} if kept.sealed else changed))
        assert refused(kept, name) or not sealed, f"{kept.name}, {name}: taken"
        kept.path.write_bytes(good)
    for name, text in texts(content):
        kept.put_text(text)
        assert refused(kept, name) or not sealed, f"{kept.name}, {name}: taken"
        kept.path.write_bytes(good)


def test_every_edit_with_a_hash_that_fits_is_read_or_refused(kept):
    (kept, _), good = kept, kept[0].path.read_bytes()
    content = kept.content()
    for name, changed in some(edits(content), content):
        try:
            kept.put(changed)
        except (OpenworldError, TypeError, AttributeError, KeyError):
            continue  # no hash of such content can be made
        refused(kept, name)
        kept.path.write_bytes(good)


def test_one_bit_anywhere_is_refused_where_it_decides(kept):
    (kept, name), good = kept, kept[0].path.read_bytes()
    for place in random.Random(name).sample(range(len(good)), 60) if name in SEALED else ():
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        kept.path.write_bytes(bad)
        assert refused(kept, f"byte {place}"), f"{kept.name}, byte {place}: taken"
    kept.path.write_bytes(good)
