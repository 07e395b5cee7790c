"""How far images are from a reference, in meaning and in appearance: `openworld shift`."""

from pathlib import Path
from typing import Annotated

from openworld.api.arguments import Backbone, Images, Names, OutputFolder, Report, ScoresOrImages
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
