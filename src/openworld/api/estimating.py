"""Accuracy where there are no labels: `openworld estimate`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import Model, Models, Names, OutputFolder, Report, Scores, ScoresOfModels, ScoresOrImages
from openworld.api.work import done_by
from openworld.core.types import Count


@done_by("label_free.estimate.command:estimate")
def estimate(
    source: ScoresOrImages,
    target: ScoresOrImages,
    *,
    model: Model = "",
    estimator: Sequence[str] = (),
    out: Annotated[Path | str | None, OutputFolder(own=("an estimate",))] = None,
    quiet: bool = False,
    seed: int = 0,
    architecture: Sequence[str] = (),
    template: str = "",
    reference: Model = "",
    partner: Models = (),
    device: str = "auto",
    classnames: Names | None = None,
    source_partner: ScoresOfModels = (),
    target_partner: ScoresOfModels = (),
    labelled_shift: Sequence[str] = (),
    same_shares: bool = False,
    other_shares: bool = False,
    labels: Scores | None = None,
    propose: Count = 0,
    chunks: Count = 0,
    chunk_rows: Count = 0,
    timestamps: str = "",
    period: str = "",
    alert: float | None = None,
    false_alarms: float | None = None,
    by_class: bool = False,
    levels: str = "",
    zero_shot: str = "",
    open_world: bool = False,
    new_share: float | None = None,
    base_names: Names | None = None,
) -> Report:
    """Tell how accurate a model is on a target without labels, from a labelled source and what the model says of both.

    ```
    openworld estimate --source val.npz --target live.parquet --out runs/live
    openworld estimate --source val/ --target new/ --model my-classifier
    openworld estimate --source val.npz --target live.parquet \\
        --timestamps time --period 1d --alert 0.8
    ```

    One number with an interval, or that it cannot be estimated, why, and its bounds. No target label is
    looked at.

    **Score files** (.npz, .safetensors, .parquet, .csv, .jsonl) have an entry per image: `logits` [n, C] or
    `probabilities`, and `labels` of the source; perhaps `classnames` [C], `reference` and `partner_1`, ... [n, C] of
    other models. Files with `embeddings` [n, D] need `classnames` and `class_embeddings` [C, D], there or in the file
    that is `--model`. In Python: columns, as a mapping of arrays or a table of pandas, polars or pyarrow.

    **Images** are a folder, for a source with a sub-folder per class, or NAME/DOMAIN/PART of `openworld list datasets`.
    They need `--model`: a saved classifier, a state dict, `timm:NAME`, a backbone, or `module:function`. In Python
    images may also be a table with a column `path` (of the source also `label`), a `datasets.Dataset` or an `ImageSet`,
    and models objects as docs/own-models.md lists them.

    Over time there are two alarms: that the accuracy is below `--alert`, and that images are unlike the source's.

    Exit codes: 0; 3 an alarm stands, beside `--alert`; 4 the accuracy cannot be estimated; 2 wrong use; 1 failure.

    More on files and models: docs/estimate-inputs.md, docs/own-models.md; on periods: docs/estimate-over-time.md; on
    streams with new classes (`--open-world`): docs/open-world-without-labels.md; on `--levels`:
    docs/curve-without-labels.md. As a daily job: `openworld estimate fit`, then `watch` (docs/monitoring.md).

    Args:
        source: labelled scores (files), or labelled images (a folder).
        target: the same without labels; files that go on are given one after the other.
        model: for images: folder of a classifier, or name of a backbone.
        estimator: only these methods (openworld list estimators); the first one's number is the answer.
        out: folder that keeps page, plots, numbers, and scores of images.
        quiet: show no progress; on the command line, print nothing but errors.
        seed: of samples and intervals that are drawn.
        architecture: package.module:function that builds a saved classifier of yours; again for partners.
        template: sentence for class names; default: "a photo of a {}.".
        reference: a backbone such as CLIP that scores the images too, for methods that need one.
        partner: a further model, named like `model`, for methods that compare models.
        device: auto: a GPU where there is one; cpu, cuda, cuda:1, mps.
        classnames: text file, a class name per line, in order; in Python also names.
        source_partner: another model's scores on the source.
        target_partner: the same model's on the target.
        labelled_shift: labelled scores under a known shift, FILE or FAMILY=FILE; or: corruptions.
        same_shares: classes come as often as on the source; you vouch for it.
        other_shares: classes come in other shares, and nothing else differs; you vouch for it.
        labels: labels of some target images that came late: the column that names images, label, inclusion.
        propose: write about so many images to label, those whose labels would tell most, to `out`.
        chunks: cut the target into so many equal parts.
        chunk_rows: cut it after every so many rows.
        timestamps: the target's column of time stamps.
        period: beside `timestamps`: 6h, 1d, 2w, 1month.
        alert: exit code 3, `.found.alerts` in Python, where the accuracy is found below this fraction.
        false_alarms: in this share of years of 365 chunks either alarm may be raised by chance; default: 0.05.
        by_class: also say the accuracy of every class.
        levels: the accuracy by level of change: the target's column of levels, 0 to 1.
        zero_shot: beside `levels`: the table of zero-shot's scores: reference, partner_1, ...
        open_world: bounds of OpenworldAUC and of the share of new images, of streams of `openworld predict --out`; in
            Python also columns such as {"logits": [n, C], "classnames": [C], "n_base": 50}, of the source with `side`
            and `label`.
        new_share: beside `open_world`: share of new images in (0, 1), where it is known.
        base_names: beside `open_world`: text file of base names, where the streams lack them; in Python also names.

    Returns:
        A report that shows its answer; `.found` is the estimate as numbers (with `levels`, a curve), `.results` are its
        rows.

    Raises:
        OpenworldError: inputs that do not go together or cannot be read, as the message says.
    """
