"""The command line: parses first, imports late, and has no logic of its own."""

from openworld.cli.app import app


def main() -> None:
    """Entry point of `openworld`. Exit codes: 0 done, 1 failed while working, 2 wrong use, 130 interrupted."""
    app()
