"""Every command that writes, stopped at changes of a file: called again it leaves no half and no scratch file.

`crash_points.py` stops them at every change; here it does so at a few, in every way over all commands.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from every_output import COMMANDS

QUICK = ("check", "watch")


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL and fork")
@pytest.mark.parametrize("names", [QUICK, pytest.param(set(COMMANDS) - set(QUICK), marks=pytest.mark.slow)], ids=len)
def test_stopped_at_a_change_of_a_file_and_called_again(inputs_of_all, tmp_path, names):
    script = Path(__file__).with_name("crash_points.py")
    (tmp_path / "world").symlink_to(inputs_of_all)
    command = [sys.executable, script, "--place", tmp_path, "--stops", "3", *sorted(names)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in names:
        assert re.search(rf"^{re.escape(name)} \| [1-9]", done.stdout, re.MULTILINE)
