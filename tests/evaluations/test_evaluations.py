"""Evaluations by name: a name leads to its spec, and only work loads what is heavy."""

import subprocess
import sys

import pytest

from openworld.evaluations import EVALUATIONS, find_evaluation

LIGHT = """
import sys
from importlib import import_module
import openworld.evaluations
assert not {'numpy', 'torch'} & set(sys.modules), 'naming them'
from openworld.cli.in_process import invoke
from openworld.cli.app import app
for spec in ('missing.toml', 'misspelt.toml'):
    done = invoke(app, ['run', spec])
    assert done.exit_code == 2 and 'torch' not in sys.modules, done.output
for name in openworld.evaluations.EVALUATIONS:
    import_module(openworld.evaluations.report_of(name))
    assert 'torch' not in sys.modules, name
"""


@pytest.mark.parametrize("name", EVALUATIONS)
def test_every_name_has_its_spec(name):
    assert find_evaluation(name).spec.protocol == name


def test_names_reports_and_specs_that_will_not_do_load_nothing_heavy(tmp_path):
    (tmp_path / "misspelt.toml").write_text('protocol = "recogniton"')
    done = subprocess.run([sys.executable, "-c", LIGHT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
