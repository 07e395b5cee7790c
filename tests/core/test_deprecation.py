"""What is public and will go says so once, where it is used."""

import warnings

from openworld.core.errors import deprecated


def old_function():
    deprecated("openworld.old_function", "openworld.new_function", since="0.3", gone_in="0.5")
    return 1


def test_what_will_go_warns_once_and_names_what_to_use():
    deprecated.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert old_function() + old_function() == 2
    (warning,) = caught
    assert warning.category is DeprecationWarning and warning.filename == __file__
    words = str(warning.message)
    assert "openworld.old_function is deprecated since openworld 0.3 and is gone in 0.5" in words
    assert words.endswith("use openworld.new_function.")
