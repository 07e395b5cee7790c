from nearest_means import NearestMeans

from openworld.testing import check_detector


def test_nearest_means_keeps_every_promise():
    check_detector(NearestMeans())
