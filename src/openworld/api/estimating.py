"""Accuracy where there are no labels: `openworld estimate`, and `estimate fit` and `watch` as a daily job."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import (
    Model,
    Models,
    Names,
    OutputFile,
    OutputFolder,
    Report,
    Scores,
    ScoresOfModels,
    ScoresOrImages,
    SeveralScores,
)
from openworld.api.work import done_by
from openworld.core.types import Count, Positive


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


@done_by("label_free.watch.command:fit_watch")
def fit_watch(
    source: SeveralScores,
    out: Annotated[Path | str, OutputFile(kind="what `openworld estimate fit` writes")],
    *,
    classnames: Names | None = None,
    estimator: Sequence[str] = (),
    timestamps: str = "",
    period: str = "",
    chunk_rows: Count = 0,
    images: Sequence[Positive] = (),
    alert: float | None = None,
    false_alarms: float | None = None,
    seed: int = 0,
    quiet: bool = False,
) -> Report:
    """Fit once, on a labelled source, what `openworld estimate watch` needs every day.

    ```
    openworld estimate fit --source val.npz --out watch.safetensors \\
        --timestamps time --period 1d --alert 0.8
    openworld estimate watch watch.safetensors monday.parquet
    ```

    Everything that depends on the source alone is done here: the methods, what they say of sets like the source, the
    checks of the source, and the limits of both alarms for periods of the sizes that --images names. Another size is
    measured when it is first met, which takes some seconds, and kept.

    **Two alarms**, each false in --false-alarms of years of 365 periods: the shift alarm, that images are no longer
    like the source's, always; the accuracy alarm, that the accuracy is below --alert. That one is refused where the
    model's confidence hardly tells right answers from wrong ones, unless there is a reference.

    The file is a safetensors file with JSON and no pickle. It holds a sample of the source (all of it up to 50,000
    images, of 1,000 classes 20,000: 80 MB), its SHA-256 and the settings. Nothing else needs the source any more.

    **Periods** are those of the calendar (--timestamps time --period 1d), so many rows (--chunk-rows 500), or, without
    either, every file is one. **Score files** are those of `openworld estimate --help`.

    Args:
        source: files of labelled scores, as for `estimate`; in Python also columns.
        out: file to write, such as watch.safetensors.
        classnames: text file, a class name per line, in order; in Python also names.
        estimator: only these methods (openworld list estimators); the first one's number is the answer.
        timestamps: column of time stamps of the files to come.
        period: beside `timestamps`: 6h, 1d, 2w, 1month.
        chunk_rows: in place of `period`: a period has so many rows.
        images: how many images a period usually has; default: 1000.
        alert: an alarm where the accuracy is found below this fraction.
        false_alarms: in this share of years of 365 periods either alarm may be raised by chance; default: 0.05.
        seed: of samples and draws.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        A report that shows its answer; `.found` is the `Watch`.

    Raises:
        OpenworldError: a source that cannot be read or has no labels, methods that it does not allow.
    """


@done_by("label_free.watch.command:watch")
def watch(
    fitted: Path | str,
    new: SeveralScores = (),
    *,
    state: Annotated[
        Path | str | None, OutputFile(kind="the state of `openworld estimate watch`", option="--state")
    ] = None,
    json_lines: Path | str | None = None,
    prometheus: Annotated[
        Path | str | None, OutputFile(kind="numbers that a watch wrote for Prometheus", option="--prometheus")
    ] = None,
    close: bool = False,
    labels: Scores | None = None,
    propose: Count = 0,
    out: Annotated[Path | str | None, OutputFolder(own=("the page of a watch",))] = None,
    quiet: bool = False,
) -> Report:
    """Add new files to a watch, and say what the accuracy of the periods is that they finish: a daily job.

    ```
    openworld estimate watch watch.safetensors monday.parquet
    openworld estimate watch watch.safetensors tuesday.parquet --close \\
        --json-lines accuracy.jsonl --prometheus /var/lib/node_exporter/watch.prom
    openworld estimate watch watch.safetensors --propose 50 --out runs/live
    openworld estimate watch watch.safetensors --labels runs/live/labels-to-make-2026-11-22.csv
    ```

    Only the new files are read. A state file keeps the alarm, the last time stamp, the period that is not finished, and
    the history: days that come one by one give the numbers of a year that is read at once. A file that was counted is
    recognised by its content and not counted again; images before those that were counted are refused.

    **Periods.** A period is finished by the first image of a later one, or by --close, and counts for the alert then.
    One that is not finished is estimated, too, but raises no alarm: looks at half a day would be further chances to be
    wrong, and --false-alarms speaks of 365 looks a year.

    **Late labels**: `--labels FILE` has a row an image: `id` (what the files that were counted call it; or `row`, its
    place among all images of the watch, from 0), `label`, a class or `other`, and `inclusion`, the probability with
    which it was drawn to be labelled. Drawn labels turn the estimate of a finished period into an interval that holds.
    `--propose 50` draws the images of the last finished period whose labels tell most.

    **Safe.** The state is written in one step. After a kill or a full disk run the same command again: it goes on, and
    lines that were not written are written. A second call on the same state is refused while the first is at work.

    More on the numbers: docs/alerts.md; on late labels: docs/late-labels.md.

    Exit codes: 0; 3 an alarm stands in a new period; 4 the accuracy of one cannot be estimated; 2 wrong use; 1 failure.

    Args:
        fitted: file that `openworld estimate fit` wrote.
        new: new files of scores, in order of time; none to look again. In Python also columns.
        state: file that lets the next call go on; default: beside the fitted file.
        json_lines: append a line per finished period to this file, pipe or device.
        prometheus: write the numbers to this file, for node_exporter's textfile collector (.prom).
        close: the last period ends with the last file.
        labels: labels of images of finished periods that came late: id or row, label, inclusion.
        propose: write about so many images of the last finished period to label to `out`.
        out: folder that keeps page, plots and numbers.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        A report that shows its answer; `.found.new` are the periods that were finished, `.results` all as rows.

    Raises:
        OpenworldError: images out of order, scores that do not fit the watch, another call at work on the state,
            labels of images that are not kept.
    """
