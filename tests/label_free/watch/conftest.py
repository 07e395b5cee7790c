"""Tests of a watch share a fitted one."""

import sys
from pathlib import Path

import pytest

from openworld.tables.files import scores_of

sys.path.insert(0, str(Path(__file__).parent))

from watched_days import source_columns  # noqa: E402


@pytest.fixture(scope="module")
def fitted(few_draws, tmp_path_factory):
    """A watch with an alert, of periods of a day of about 150 images."""
    from openworld.label_free.watch import command

    path = tmp_path_factory.mktemp("watch") / "watch.safetensors"
    settings = {"timestamps": "time", "period": "1d", "alert": 0.78}
    command.fit_watch([scores_of(source_columns(), "val")], path, **settings, images=[150])
    return path
