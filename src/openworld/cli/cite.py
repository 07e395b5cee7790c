"""`openworld cite RUN`: BibTeX of everything that a run used."""

from pathlib import Path
from typing import Annotated

import typer


def cite(run: Annotated[Path, typer.Argument(help="Folder of a finished run.")]) -> None:
    """Print BibTeX entries of everything that a run used: its evaluation, methods, models and data sets.

    What has no entry, such as a data set of your own, is named in a comment. Entries of methods that you name:
    `openworld list --cite CoOp MSP`.

    ```
    openworld cite runs/demo > references.bib
    ```
    """
    from openworld.api.citing import cite as cite_run
    from openworld.cli import console

    console.write(cite_run(run))
