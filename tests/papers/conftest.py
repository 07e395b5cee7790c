"""What the tests of all papers share."""

import pytest

from openworld.papers import MISPRINTS, TABLES, misprints_of


@pytest.fixture
def demonstrate():
    """Show every known contradiction of a paper to be one, by functions by its name."""

    def check(paper, shown):
        known = {misprint.name: misprint for misprint in MISPRINTS if misprint.paper == paper}
        assert set(known) == set(shown)
        for name, misprint in known.items():
            shown[name]()
            assert all(misprint in misprints_of(paper, table) for table in misprint.tables), name
            assert set(misprint.tables) <= set(TABLES[paper]), name

    return check
