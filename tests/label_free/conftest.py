"""Tests of commands that quote a number."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def resampled(few_resampled_sources):
    """No test here tells 8 resampled sources from 25."""
