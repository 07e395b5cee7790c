"""`openworld demo`: the whole path on the embedded world."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Devices, Quiet, Workers


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run; an unfinished run in it is continued.")] = Path(
        "runs/demo"
    ),
    preset: Annotated[
        str,
        typer.Option(
            help="published: the papers' settings; quick: a fifth of their epochs, too few to rank the methods."
        ),
    ] = "published",
    style: Annotated[
        str, typer.Option(help="Drawing style of shots and test images (openworld list datasets).")
    ] = "twemoji",
    redrawn: Annotated[str, typer.Option(help="Another style for the test images: the redrawn split.")] = "",
    device: Devices = "auto",
    workers: Workers = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Zero-shot CLIP, CoOp, KgCoOp and GMoP on the embedded world: from images to report, no download.

    One hundred emoji, fifty of them seen in training, in a drawing style that the embedded CLIP never saw. Ends with a
    table, a page with curves and images, and the records of every image. Run it again: nothing is computed twice.
    """
    from openworld.cli._run_reports import run_and_show
    from openworld.evaluations.recognition import presets
    from openworld.evaluations.running import RunOptions

    spec = replace(presets.preset(preset), train_domain=style, test_domain=redrawn or style)
    few = "preset quick: 10 to 20 epochs, where the papers run 50 to 100; too few to rank the methods"
    remark = few if preset == "quick" else ""
    run_and_show(spec, spec, RunOptions(out, device, workers, remark=remark), quiet=quiet, as_json=as_json)
