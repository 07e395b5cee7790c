from margin import Margin

from openworld.testing import check_estimator


def test_margin_keeps_every_promise():
    check_estimator(Margin())
