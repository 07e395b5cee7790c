"""What tests of estimates without labels share: made-up models beside them, and few draws."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "estimators"), str(Path(__file__).parent)]


@pytest.fixture(scope="module", autouse=True)
def few_draws_everywhere(few_draws):
    """All of them draw few sets."""
