"""`openworld synthesize`: images made to order, equally many at every level of shift."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Device, Quiet


def synthesize(
    reference: Annotated[list[str], typer.Option(help="Images that a model knows: a folder, or NAME/DOMAIN/PART.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the set; made where missing.")] = None,
    labels: Annotated[str, typer.Option(help="What is shown: a text file, a name per line, or a data set.")] = "",
    styles: Annotated[
        str, typer.Option(help="How: syn-is, rendered, FILE.toml, FILE.json, syn-is:FILE.json; default: what suits.")
    ] = "",
    painter: Annotated[str, typer.Option(help="sdxl-turbo, rendered, or package.module:function.")] = "sdxl-turbo",
    images: Annotated[
        list[str] | None,
        typer.Option("--images", "--pictures", help="What `rendered` redraws; named like --reference."),
    ] = None,
    each: Annotated[int, typer.Option(min=1, help="Images of every cell.")] = 100,
    backbone: Annotated[str, typer.Option(help="Two-tower backbone whose features are used.")] = "embedded",
    laid: Annotated[Path | None, typer.Option(help="A kept LAID; fitted to the names if left out.")] = None,
    templates: Annotated[Path | None, typer.Option(help="Text file, a sentence with {} per line, for LAID.")] = None,
    neighbour: Annotated[int, typer.Option(min=1, help="A degree is the distance to this neighbour.")] = 10,
    levels: Annotated[int, typer.Option(min=3, help="Levels of each axis of the grid.")] = 8,
    least: Annotated[int, typer.Option(min=1, help="Cells with fewer prompts are N/A.")] = 10,
    weights: Annotated[str, typer.Option(help="Of sdxl-turbo: a folder or a repository of the hub.")] = "",
    side: Annotated[int, typer.Option(min=8, help="Of sdxl-turbo: pixels.")] = 512,
    steps: Annotated[int, typer.Option(min=1, help="Of sdxl-turbo: steps of denoising.")] = 4,
    guidance: Annotated[float, typer.Option(min=0, help="Of sdxl-turbo: above 1, negative sentences count.")] = 0.0,
    screen: Annotated[str, typer.Option(help="package.module:function that says which images to keep.")] = "",
    batch: Annotated[int, typer.Option(min=0, help="Images at a time; 0: by the memory.")] = 0,
    only_plan: Annotated[bool, typer.Option("--plan", help="Say what would be made, and make nothing.")] = False,
    allow_corrupt: Annotated[int, typer.Option(min=0, help="Unreadable images that may be left out.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of LAID, of the draw and of all noise.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a test set of images at measured shift from a reference: equally many at every level (Syn-IS).

    ```
    openworld synthesize --painter rendered --levels 4 --each 25 \\
        --reference emoji-concepts/noto/train \\
        --images emoji-concepts/noto/test \\
        --images emoji-concepts-b/noto/test --out runs/twin
    openworld synthesize --labels names.txt --reference train/ \\
        --backbone ViT-B/16 --plan --out runs/syn-is
    openworld synthesize --labels names.txt --reference train/ \\
        --backbone ViT-B/16 --each 5000 --device cuda --out runs/syn-is
    ```

    The first takes a minute and downloads nothing. Every label in every style is a prompt, such as "a blueprint of a
    sea lion". Each prompt is measured against the reference: the cosine distance of its text to the 10th nearest
    image, in the half of the backbone's features that tells of meaning and in the half that tells of appearance
    (LAID; `openworld shift --help` says more). Both axes are cut into levels, and every cell gets equally many
    images. `--plan` tells first how many prompts each cell has, and which cells stay empty.

    **Painters.** `sdxl-turbo` is the diffusion model of the paper (`pip install 'openworld[synth]'`, 7 GB of weights
    under Stability AI's licence, a GPU). `rendered` redraws images that you have in 17 styles; labels are their
    classes if you give none. A painter of your own is a function that Python can import.

    **Styles.** `syn-is` are the 51 of the paper in sentences of our own; a TOML file holds `[[style]]` entries with
    `name`, `prompt` (a sentence with {}) and, if you like, `negative`. SDXL's own templates, which the paper used, are
    read from the JSON files in which they go around (entries with `name`, `prompt` with {prompt}, `negative_prompt`):
    `--styles FILE.json` takes all of them, `--styles syn-is:FILE.json` the paper's 51 among them.

    **Kept** with `--out`: the images, manifest.json with what made them and hashes of all, images.parquet (a row per
    image), and division/ with every prompt's degrees and the LAID. **Stopped or killed**, start it again: it goes on
    where it was, and ends with the same bytes.

    The set is read by `openworld run` with `cells = { generated = "runs/twin" }` in a spec of ood-detection
    (`examples/syn-is-embedded.toml`), and in Python by `openworld.shifts.synthesis.read_generated`.
    """
    from openworld.applications.shift.decomposition import DecompositionSource
    from openworld.applications.synthesize import report
    from openworld.applications.synthesize.command import SynthesisInputs, plan_set
    from openworld.cli import console

    further = {"weights": weights} if weights else {}
    inputs = SynthesisInputs(
        *(tuple(reference), labels, styles, backbone, DecompositionSource(laid, None, templates)),
        *(device, allow_corrupt),
        sizes={"each": each, "k": neighbour, "levels": levels, "least": least, "seed": seed},
        painter=painter,
        settings={"pictures": tuple(images or ()), "side": side, "steps": steps, "guidance": guidance, **further},
        screen=screen,
        batch=batch or None,
        only_plan=only_plan,
        out=out,
    )
    output = console.output(quiet=quiet or as_json)
    _hush(output.quiet)
    with console.observer(output) as observer:
        planned = plan_set(inputs, observer)
    answer = report.report(planned)
    answer.show(output)
    made = None
    if not only_plan:
        output.print()
        with console.observer(output) as observer:
            made = planned.paint(observer)
        for line in report.made_lines(made, out):
            output.print(line, markup=False)
    if as_json:
        console.write(report.with_facts(answer, made).to_json())


def _hush(quiet: bool) -> None:
    """No warnings of packages that nothing here needs, while other people's packages load, and no bars in a log."""
    for package in ("DIFFUSERS", "TRANSFORMERS"):
        os.environ.setdefault(f"{package}_VERBOSITY", "error")
    if quiet or not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
