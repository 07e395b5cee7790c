"""`openworld cite RUN...`: BibTeX of everything that runs used."""

from pathlib import Path
from typing import Annotated

import typer


def cite(runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folder of a finished run.")]) -> None:
    """Print BibTeX entries of everything that runs used: evaluations, methods, models and data sets, each once.

    What has no entry, such as a data set of your own, is named in a comment. Entries of methods that you name:
    `openworld list --cite CoOp MSP`.

    ```
    openworld cite runs/demo runs/shots > references.bib
    ```
    """
    from openworld.api.citing import cite as cite_runs
    from openworld.cli import console

    console.write(cite_runs(*runs))
