"""An evaluation of another package, built as its page shows, keeps every promise that ours keep."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from openworld.evaluations import find_evaluation
from openworld.testing import EVALUATION_CHECKS, _evaluations, check_evaluation

sys.path.insert(0, str(Path(__file__).parent / "evaluations"))

from small_specs import draw  # noqa: E402

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plug_in_evaluation"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The example as it is when it is installed; also for processes that are started."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    about = tmp_path / "class_means-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: class-means\nVersion: 0.1\n")
    entry = re.search(r'\nclass-means = "(.*)"', (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))[1]
    (about / "entry_points.txt").write_text(f"[openworld.evaluations]\nclass-means = {entry}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return tmp_path


@pytest.mark.parametrize("kills", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_it_runs_resumes_is_reported_exported_and_compared(package, monkeypatch, kills):
    some = ("is_listed", "goes_on_to_the_same_bytes", "is_exported_in_every_form", "is_compared_with_itself")
    checks = {name: check for name, check in EVALUATION_CHECKS.items() if kills or name in some}
    monkeypatch.setattr(_evaluations, "EVALUATION_CHECKS", checks)
    assert find_evaluation("class-means").name == "class-means"
    spec = package / "means.toml"
    draw(package)
    spec.write_text(spec.read_text().replace('"emoji-groups"', '"./squares"'))  # the same on fewer images
    check_evaluation(spec)
