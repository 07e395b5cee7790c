"""What a fitted learner says about images: `openworld predict`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import OutputFile, PredictingModel, Report, ScoresOrImages
from openworld.api.work import done_by
from openworld.core.types import Count, Positive


@done_by("own_data.predict:predict")
def predict(
    model: PredictingModel,
    images: ScoresOrImages,
    *,
    unit: str = "",
    new: Sequence[str] = (),
    new_names: Path | str | None = None,
    run_names: bool = False,
    top: Positive = 1,
    threshold: float | None = None,
    template: str = "",
    backbone: str = "",
    allow_corrupt: Count = 0,
    device: str = "auto",
    out: Annotated[Path | str | None, OutputFile()] = None,
    labelled: bool = False,
    quiet: bool = False,
) -> Report:
    """Name images with a fitted learner, tell how much each looks like a class it was tuned on, and compare.

    ```
    openworld predict RUN validation/ --run-names --labelled \\
        --out validation.parquet
    openworld predict RUN stream/ --run-names --out stream.parquet
    ```

    Names are chosen among the base names, which the learner brings, and the new names given here. *Baseness* is its
    probability (percent) that the image is of a base class at all; its place among the images, 1 = most like base,
    is often worth more than the number. Beside it stands what zero-shot CLIP says, on the same backbone and names.

    No threshold is saved. With `--threshold 0.8` an image whose baseness is below 0.8 (80.0 in the table) looks new
    and is called by its best new name; from 0.8 on it looks base and is called by its best base name.
    `openworld decide RUN` chooses a threshold and says what it misses and hits; it holds for the run's own new names
    (`--run-names`), since every further name takes its share of baseness.

    Images are encoded anew and nothing is kept on disk. In Python: `openworld.learners.load` and `predict`.

    **To be judged without labels**: `--out` writes a stream, with a row per image, for `openworld estimate
    --open-world` and `openworld label plan`; the table is then left out. With `--labelled` the folder that an image
    lies in is its class, which gives `side` and `label`; a data set, as NAME/DOMAIN/PART, has labels of its own.

    Args:
        model: a run or its folder, a folder that `FittedLearner.save` wrote, or in Python the learner; or a file of
            class embeddings: zero-shot, its base names those that are not new.
        images: images, folders of images, a data set, or a file of embeddings; in Python also a table with a column
            `path` or `embeddings`.
        unit: which learner of a run, such as "GMoP, seed 1".
        new: name of a class that it was not tuned on.
        new_names: text file of such names, one per line.
        run_names: also the new names that the run tested.
        top: how many names to give.
        threshold: baseness, in [0, 1], below which an image looks new.
        template: sentence of zero-shot CLIP, such as "a photo of a {}.".
        backbone: default: the one it was fitted on, if that is here and no code of yours.
        allow_corrupt: unreadable images to leave out; more stop it.
        device: auto: a GPU where there is one; cpu, cuda, cuda:1, mps.
        out: file that keeps scores, logits and names: .parquet, .csv, .npz, .safetensors.
        labelled: beside `out`: images lie in folders named after their classes, and are kept with these labels.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        A report: `.found.rows` is a dict per image.

    Raises:
        OpenworldError: no learner there, names that will not do, images that cannot be read.
    """
