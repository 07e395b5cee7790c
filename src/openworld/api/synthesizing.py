"""Images made to order, equally many at every level of shift: `openworld synthesize`."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from openworld._console import Ending
from openworld._types import Count, Positive, Range, checked
from openworld.api.arguments import OutputFolder, SeveralImages
from openworld.api.progress import observing

if TYPE_CHECKING:
    from openworld.report.report import Report


@checked
def synthesize(
    reference: SeveralImages,
    out: Annotated[Path | str | None, OutputFolder(own=("a generated set of images",))] = None,
    *,
    labels: str = "",
    styles: str = "",
    painter: str = "sdxl-turbo",
    images: SeveralImages = (),
    each: Positive = 100,
    plan: bool = False,
    quiet: bool = False,
    device: str = "auto",
    allow_corrupt: Count = 0,
    backbone: str = "embedded",
    laid: Path | str | None = None,
    templates: Path | str | None = None,
    neighbour: Positive = 10,
    levels: Annotated[int, Range(3, 1000)] = 8,
    least: Positive = 10,
    seed: int = 0,
    weights: str = "",
    side: Annotated[int, Range(8)] = 512,
    steps: Positive = 4,
    guidance: Annotated[float, Range(0)] = 0.0,
    screen: str = "",
    batch: Count = 0,
) -> "Report":
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

    Args:
        reference: images that a model knows: folders, or data sets as NAME/DOMAIN/PART.
        out: folder of the set; made where missing.
        labels: what is shown: a text file, a name per line, or a data set.
        styles: how: syn-is, rendered, FILE.toml, FILE.json, syn-is:FILE.json; default: what suits.
        painter: sdxl-turbo, rendered, or package.module:function.
        images: what `rendered` redraws; named like `reference`.
        each: images of every cell.
        plan: say what would be made, and make nothing.
        quiet: show no progress; on the command line, print nothing but errors.
        device: auto: a GPU where there is one; cpu, cuda, cuda:1, mps.
        allow_corrupt: unreadable images that may be left out.
        backbone: two-tower backbone whose features are used.
        laid: a kept LAID; default: one that is fitted to the names.
        templates: text file, a sentence with {} per line, for LAID.
        neighbour: a degree is the distance to this neighbour.
        levels: levels of each axis of the grid.
        least: cells with fewer prompts are N/A.
        seed: of LAID, of the draw and of all noise.
        weights: of sdxl-turbo: a folder or a repository of the hub.
        side: of sdxl-turbo: pixels.
        steps: of sdxl-turbo: steps of denoising.
        guidance: of sdxl-turbo: above 1, negative sentences count.
        screen: package.module:function that says which images to keep.
        batch: images at a time; 0: by the memory.

    Returns:
        A report of the plan: how many prompts every cell has.

    Raises:
        OpenworldError: names, images or a folder that will not do, as the message says.
    """
    _hush(quiet)
    from openworld.own_data.shift.decomposition import DecompositionSource
    from openworld.own_data.synthesize import report as say
    from openworld.own_data.synthesize.command import plan_set

    references = (reference,) if isinstance(reference, str | Path) else reference
    source = DecompositionSource(
        None if laid is None else Path(laid), None, None if templates is None else Path(templates)
    )
    further = {"weights": weights} if weights else {}
    pictures = {"pictures": tuple(map(str, images)), "side": side, "steps": steps, "guidance": guidance}
    with observing(quiet=quiet) as observer:
        planned = plan_set(
            tuple(map(str, references)),
            labels=labels,
            styles=styles,
            backbone=backbone,
            source=source,
            device=device,
            allow_corrupt=allow_corrupt,
            sizes={"each": each, "k": neighbour, "levels": levels, "least": least, "seed": seed},
            painter=painter,
            settings=pictures | further,
            screen=screen,
            only_plan=plan,
            out=out,
            observer=observer,
        )
        report, made = say.report(planned), None
        if plan:
            return say.with_facts(report)
        made = planned.paint(observer, batch=batch or None)
    lines = "\n".join(say.made_lines(made, out))
    return replace(say.with_facts(report, made), ending=Ending(f"\n{lines}"))


def _hush(quiet: bool) -> None:
    """No warnings of packages that nothing here needs, while other people's packages load, and no bars in a log."""
    for package in ("DIFFUSERS", "TRANSFORMERS"):
        os.environ.setdefault(f"{package}_VERBOSITY", "error")
    if quiet or not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
