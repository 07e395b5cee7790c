"""Images made to order, equally many at every level of shift: `openworld synthesize`."""

from pathlib import Path
from typing import Annotated

from openworld.api.arguments import OutputFolder, Report, ScoresOrImages, SeveralImages
from openworld.api.work import done_by
from openworld.core.types import Count, Positive, Range


@done_by("own_data.synthesize.command:synthesize")
def synthesize(
    reference: ScoresOrImages,
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
) -> Report:
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

    **Styles.** `syn-is` are the 51 of the paper in sentences of our own; those of a TOML file, and of the JSON files of
    SDXL's templates: docs/syn-is.md.

    **Kept** with `--out`: the images, manifest.json with what made them and hashes of all, images.parquet (a row per
    image), and division/ with every prompt's degrees and the LAID. **Stopped or killed**, start it again: it goes on
    where it was, and ends with the same bytes. `openworld run` reads the set with `cells = { generated = "runs/twin" }`
    in a spec of ood-detection (`examples/syn-is-embedded.toml`).

    Args:
        reference: images that a model knows: folders, or data sets as NAME/DOMAIN/PART.
        out: folder of the set; made where missing.
        labels: what is shown: a text file, a name per line, or a data set.
        styles: how: syn-is, rendered, FILE.toml, FILE.json, syn-is:FILE.json; default: what suits.
        painter: sdxl-turbo, rendered, or package.module:function.
        images: what `rendered` redraws; named like `reference`.
        each: how many images of every cell.
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
        side: of sdxl-turbo: width and height in pixels.
        steps: of sdxl-turbo: steps of denoising.
        guidance: of sdxl-turbo: above 1, negative sentences count.
        screen: package.module:function that says which images to keep.
        batch: images at a time; 0: by the memory.

    Returns:
        A report of the plan: how many prompts every cell has.

    Raises:
        OpenworldError: names, images or a folder that will not do, as the message says.
    """
