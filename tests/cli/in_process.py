"""`openworld` within the process of the tests: nothing is imported anew. `disturbed` starts real processes."""

import subprocess
from contextlib import chdir

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner


def openworld(*arguments, cwd=".", cache=None, columns=160):
    """What a command ends with and prints, as `subprocess.run` tells it."""
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1"} | ({"OPENWORLD_CACHE": str(cache)} if cache else {})
    command = list(map(str, arguments))
    with chdir(cwd):
        done = CliRunner().invoke(app, command, env=environment)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)


def told(folder, *arguments):
    """What a command prints that ends well, in a folder and with a cache of its own there."""
    done = openworld(*arguments, cwd=folder, cache=folder / "cache")
    assert done.returncode == 0, done.stderr
    return done.stdout
