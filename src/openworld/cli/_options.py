"""Options that several commands share, each with one help text."""

from pathlib import Path
from typing import Annotated

import typer

Device = Annotated[str, typer.Option(help="auto: a GPU where there is one; cpu, cuda, cuda:1, mps.")]
Devices = Annotated[str, typer.Option(help="auto: all GPUs there are; or cpu, cuda, mps, cuda:1, cuda:0,cuda:1.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes; 0: one per core, on GPUs as many as their memory holds.")]
Engine = Annotated[str, typer.Option(help="local: this machine; ray: Ray here, or the cluster that RAY_ADDRESS names.")]
Cache = Annotated[Path | None, typer.Option(help="Folder of encoded images; default: see `openworld doctor`.")]
CacheLimit = Annotated[
    str, typer.Option(help="How much encoded images may take, such as 50GB; what is not kept is computed again.")
]
AllowCorrupt = Annotated[
    int, typer.Option(min=0, help="How many unreadable images each image set may have; with more the run stops.")
]
DataFolder = Annotated[Path | None, typer.Option(help="Folder of all downloaded data sets; default $OPENWORLD_DATA.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
