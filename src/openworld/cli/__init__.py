"""The command line: parses first, imports late, and has no logic of its own."""

import sys

from openworld._errors import OpenworldError
from openworld.cli import console
from openworld.cli.app import app


def main() -> None:
    """Entry point of `openworld`. Exit codes: 0 done, 1 failed while working, 2 wrong use, 130 interrupted."""
    try:
        app()
    except OpenworldError as error:
        if console.debug():
            raise
        console.say_error(error)
        sys.exit(console.exit_code(error))
    except KeyboardInterrupt:
        console.say_error("stopped; what is done is kept: run the same command again to go on.")
        sys.exit(130)
