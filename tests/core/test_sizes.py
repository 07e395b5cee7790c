"""Sizes in text: what is read, what is said, what is refused."""

import pytest

from openworld.core.errors import OpenworldError
from openworld.core.sizes import parse_size, size_in_words


@pytest.mark.parametrize(
    ("text", "size"), [("50GB", 50 * 10**9), ("1.5 tb", 15 * 10**11), (" 3 B", 3), ("0.1KB", 100), ("7MB", 7 * 10**6)]
)
def test_sizes_are_read(text, size):
    assert parse_size(text, "--limit") == size


@pytest.mark.parametrize("text", ["", "50", "GB", "-1GB", "1e3GB", "1,5GB", "50GiB", "nan GB"])
def test_what_is_no_size_is_refused_with_the_name_of_the_option(text):
    with pytest.raises(OpenworldError, match=f"--limit is '{text}'.*50GB"):
        parse_size(text, "--limit")


@pytest.mark.parametrize("size", [0, 10**5, 2 * 10**7, 3 * 10**9, 4 * 10**11])
def test_what_is_said_can_be_read_again(size):
    assert parse_size(size_in_words(size), "--limit") == size


@pytest.mark.parametrize("size", [1, 10**6 + 1, 14_200_000, 2_000_000_001, 123_456_789_012])
def test_what_is_said_to_be_enough_is_not_less(size):
    assert size <= parse_size(size_in_words(size, at_least=True).replace(",", ""), "--limit") < size * 1.1 + 10**5
