"""`openworld` within the process of the tests: nothing is imported anew. `disturbed` starts real processes."""

from contextlib import chdir

from openworld.cli.app import app
from openworld.cli.in_process import invoke


def openworld(*arguments, cwd=".", cache=None, columns=160, **environment):
    """Return what a command prints, and its exit code."""
    environment |= {"COLUMNS": str(columns), "NO_COLOR": "1"} | ({"OPENWORLD_CACHE": str(cache)} if cache else {})
    with chdir(cwd):
        done = invoke(app, arguments, env=environment)
    assert done.exception is None, done.exception
    return done


def told(folder, *arguments):
    """Return what a command prints that ends well, in a folder and with a cache of its own there."""
    done = openworld(*arguments, cwd=folder, cache=folder / "cache")
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(words, *arguments, code=2, **place):
    """Have a command refuse what it is given, in a sentence with the words."""
    done = openworld(*arguments, **place)
    said = " ".join(done.output.split())
    assert done.exit_code == code and words in said and "Traceback" not in said, (arguments, done.exit_code, said)
