"""`openworld doctor`: what is installed, which devices are there, and where things lie."""

from openworld.cli._options import AsJson


def doctor(as_json: AsJson = False) -> None:
    """Say which version, packages, extras and devices are there, and where cache and data sets lie.

    Put it into a bug report. Exit code 0: what the package needs is there; 1: something is missing or too old.
    """
    import sys

    from openworld.applications.installation import installation
    from openworld.cli import console
    from openworld.report.data_files import json_text
    from openworld.report.render import terminal_table

    state = installation()
    if as_json:
        console.write(json_text(state.to_dict()))
    else:
        out = console.output()
        out.print(terminal_table(state.table))
        for line in state.lines:
            out.print(line, markup=False)
    if not state.whole:
        sys.exit(1)
