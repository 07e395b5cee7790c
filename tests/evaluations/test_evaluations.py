"""Evaluations by name: a name leads to its spec, and naming them loads nothing heavy."""

import subprocess
import sys

import pytest

from openworld.evaluations import EVALUATIONS, find_evaluation


@pytest.mark.parametrize("name", EVALUATIONS)
def test_every_name_has_its_spec(name):
    assert find_evaluation(name).spec.protocol == name


def test_naming_them_loads_nothing_heavy():
    code = "import sys, openworld.evaluations; assert not {'numpy', 'torch'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("name", EVALUATIONS)
def test_a_report_needs_no_torch(name):
    code = (
        "import sys; from importlib import import_module; from openworld.evaluations import report_of; "
        f"import_module(report_of({name!r})); assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("text", [None, 'protocol = "recogniton"'])
def test_a_spec_that_will_not_do_is_refused_before_anything_heavy_is_loaded(text, tmp_path):
    if text:
        (tmp_path / "spec.toml").write_text(text)
    code = (
        "import sys; from openworld.cli.in_process import CliRunner; from openworld.cli.app import app; "
        "done = CliRunner().invoke(app, ['run', 'spec.toml']); "
        "assert done.exit_code == 2, done.output; "
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 0
