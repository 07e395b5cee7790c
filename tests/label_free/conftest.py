"""What tests of estimates without labels share: made-up models beside them, and few draws."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "estimators"))

FEW = {
    "label_free.estimate.quotes.SOURCES": 8,
    "label_free.estimate.quotes.ALARM_SOURCES": 16,
    "estimators.quote.shift_alarm.SOURCES": 60,
    "estimators.quote.shift_alarm.TARGETS": 100,
    "estimators.quote.alarm.YEARS": 1000,
}


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """Sets like the source are drawn few times: what is said of them stays the same, however rough a rate is."""
    with pytest.MonkeyPatch.context() as patch:
        for name, count in FEW.items():
            patch.setattr(f"openworld.{name}", count)
        yield
