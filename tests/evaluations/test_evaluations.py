"""Evaluations by name: present and former names lead to one spec, and naming them loads nothing heavy."""

import subprocess
import sys

import pytest

from openworld.evaluations import EVALUATIONS, FORMER_NAMES, find_evaluation, read_protocol

EXAMPLES = {"incremental-shift": "ood-detection-embedded", "open-world-by-shift": "recognition-by-shift-embedded"}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_every_name_has_its_spec(name):
    assert find_evaluation(name).spec.protocol in (name, *(old for old, new in FORMER_NAMES.items() if new == name))


@pytest.mark.parametrize("former", FORMER_NAMES)
def test_a_spec_says_the_same_by_either_name(former, repository, tmp_path):
    text = (repository / "examples" / f"{EXAMPLES[former]}.toml").read_text(encoding="utf-8")
    assert text.count(f'"{FORMER_NAMES[former]}"') == 1
    (tmp_path / "new.toml").write_text(text, encoding="utf-8")
    (tmp_path / "old.toml").write_text(text.replace(FORMER_NAMES[former], former), encoding="utf-8")
    assert read_protocol(tmp_path / "new.toml") == read_protocol(tmp_path / "old.toml")


def test_naming_them_loads_nothing_heavy():
    code = "import sys, openworld.evaluations; assert not {'numpy', 'torch'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("text", [None, 'protocol = "recogniton"'])
def test_a_spec_that_will_not_do_is_refused_before_anything_heavy_is_loaded(text, tmp_path):
    if text:
        (tmp_path / "spec.toml").write_text(text)
    code = (
        "import sys; from typer.testing import CliRunner; from openworld.cli.app import app; "
        "done = CliRunner().invoke(app, ['run', 'spec.toml']); "
        "assert done.exit_code == 2, done.output; "
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 0
