"""How far images are from a reference, and images made to order at every distance: `openworld shift`, `synthesize`."""

from pathlib import Path
from typing import Annotated

from openworld.api.arguments import Backbone, Images, Names, OutputFolder, Report, ScoresOrImages, SeveralImages
from openworld.api.work import done_by
from openworld.core.types import Count, Positive, Range


@done_by("own_data.shift.command:shift")
def shift(
    reference: Images,
    test: ScoresOrImages,
    *,
    backbone: Backbone = "embedded",
    out: Annotated[Path | str | None, OutputFolder(own=("a measured shift",))] = None,
    quiet: bool = False,
    device: str = "auto",
    allow_corrupt: Count = 0,
    laid: Path | str | None = None,
    classnames: Names | None = None,
    templates: Path | str | None = None,
    taught_by: str = "texts",
    most_names: Count = 200,
    neighbour: Positive = 10,
    levels: Annotated[int, Range(3, 1000)] = 8,
    levels_of: Path | str | None = None,
    least: Positive = 10,
    seed: int = 0,
) -> Report:
    """Tell how far images are from a reference, in meaning (semantic shift) and in appearance (covariate shift).

    ```
    openworld shift --reference train/ --test new/ --out runs/new
    openworld shift --reference emoji-concepts/twemoji/train \\
        --test emoji-concepts/noto/test --test emoji-concepts-b/noto/test
    openworld shift --reference train/ --test live/ --backbone ViT-B/16 \\
        --laid runs/new/laid.safetensors
    ```

    A degree is the cosine distance to the 10th nearest reference image, in one half of the backbone's features. LAID
    splits them: from class names in many sentences it learns which half tells of meaning and which of appearance. An
    image is called far where its degree is above what 95 % of the reference's own images keep from the others.

    **Images** are a folder with a sub-folder per class, any folder of images, or a data set of `openworld list` as
    NAME, NAME/DOMAIN or NAME/DOMAIN/PART. Class folders name the concepts; several `--test` are compared as styles.

    **Your own model**: `--backbone module:function` is a function without arguments that returns a two-tower model.
    Images may be a .npz or .parquet file with `embeddings` [n, D]; the backbone is then a file with `classnames` and
    `class_embeddings` [C, S, D], each name in S sentences (docs/own-models.md).

    **LAID** needs class names, 20 or more: those of the class folders, or `--classnames`; WordNet ids (n01440764) are
    named by a local WordNet 3.0. With `--taught-by images` it learns from an image of each class of the reference,
    drawn over in many appearances. With `--out` it is kept for `--laid`, so that degrees of later images are measured
    alike. More on this, and on what degrees do not say: docs/shift.md.

    **Kept** with `--out`: report.html, degrees.parquet and degrees.csv (a row per image), shift.json,
    laid.safetensors. Memory stays flat, and features are kept on disk (`openworld cache`): started again, it goes on.

    Args:
        reference: images that a model knows: a folder, or NAME/DOMAIN/PART; in Python also a table with a column
            `path` (and perhaps `label`), a `datasets.Dataset`, an `ImageSet`, or columns with `embeddings` [n, D].
        test: images to measure: the same; several for several styles.
        backbone: two-tower backbone whose features are used; in Python also an object, as docs/own-models.md lists
            them, or, for embeddings, columns with `class_embeddings` [C, S, D] and `classnames`.
        out: folder that keeps page, degrees, numbers and LAID.
        quiet: show no progress; on the command line, print nothing but errors.
        device: auto: a GPU where there is one; cpu, cuda, cuda:1, mps.
        allow_corrupt: unreadable images that may be left out.
        laid: a kept LAID; default: one that is fitted to class names.
        classnames: text file, a name per line, for LAID to learn from; in Python also names.
        templates: text file, a sentence with {} per line, for LAID.
        taught_by: what LAID learns from: texts, or images (of the reference).
        most_names: LAID learns from so many names at most, drawn from all; 0: from all.
        neighbour: a degree is the distance to this neighbour.
        levels: levels of each axis of the grid.
        levels_of: shift.json of an earlier run, for its levels.
        least: cells with fewer images are N/A.
        seed: of LAID and of samples.

    Returns:
        A report that shows its answer; `.found` has the degrees of every image, `.results` are all other numbers.

    Raises:
        OpenworldError: inputs that cannot be read or are too few, as the message says.
    """


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
