"""`openworld estimate`: how accurate is a model here, where there are no labels."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Device, Quiet

ALERTED, UNKNOWN = 3, 4
"""Exit codes where an alarm stands (accuracy below --alert, images unlike the source's), and where nothing is told."""


def estimate(
    source: Annotated[list[str], typer.Option(help="Labelled scores (files), or labelled images (a folder).")],
    target: Annotated[list[str], typer.Option(help="The same without labels; repeat it for files that go on.")],
    model: Annotated[str, typer.Option(help="For images: folder of a classifier, or name of a backbone.")] = "",
    architecture: Annotated[
        list[str] | None,
        typer.Option(help="package.module:function that builds a saved classifier of yours; repeat it for partners."),
    ] = None,
    classnames: Annotated[Path | None, typer.Option(help="Text file, a class name per line, in order.")] = None,
    template: Annotated[str, typer.Option(help='Sentence for class names; "a photo of a {}." if left out.')] = "",
    reference: Annotated[str, typer.Option(help="For images: backbone that scores them too.")] = "",
    partner: Annotated[list[str] | None, typer.Option(help="For images: further model, as --model; repeat it.")] = None,
    source_partner: Annotated[list[Path] | None, typer.Option(help="Another model's scores on the source.")] = None,
    target_partner: Annotated[list[Path] | None, typer.Option(help="The same model's on the target.")] = None,
    labelled_shift: Annotated[
        list[str] | None,
        typer.Option(help="Labelled scores under a known shift, FILE or FAMILY=FILE; or: corruptions. Repeat it."),
    ] = None,
    estimator: Annotated[
        list[str] | None, typer.Option(help="Only these (openworld list); the first is quoted.")
    ] = None,
    chunks: Annotated[int, typer.Option(min=0, help="Over time: cut the target into so many equal parts.")] = 0,
    chunk_rows: Annotated[int, typer.Option(min=0, help="Over time: cut it after every so many rows.")] = 0,
    timestamps: Annotated[str, typer.Option(help="Over time: the target's column of time stamps.")] = "",
    period: Annotated[str, typer.Option(help="Beside --timestamps: 6h, 1d, 2w, 1month.")] = "",
    same_shares: Annotated[
        bool, typer.Option("--same-shares", help="Classes come as often as on the source; you vouch for it.")
    ] = False,
    other_shares: Annotated[
        bool, typer.Option("--other-shares", help="Classes come in other shares, and nothing else differs; you vouch.")
    ] = False,
    alert: Annotated[
        float | None, typer.Option(help="Fraction: exit code 3 where the accuracy is found below.")
    ] = None,
    false_alarms: Annotated[
        float | None,
        typer.Option(help="Share of years of 365 chunks in which either alarm may be raised by chance; 0.05."),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Labels of some target images that came late: id, label, inclusion.")
    ] = None,
    propose: Annotated[
        int, typer.Option(min=0, help="Write about so many images to label, those that would tell most, to --out.")
    ] = 0,
    levels: Annotated[str, typer.Option(help="By level of change: the target's column of levels, 0 to 1.")] = "",
    zero_shot: Annotated[
        str, typer.Option(help="Beside --levels: the table of zero-shot's scores: reference, partner_1, ...")
    ] = "",
    by_class: Annotated[bool, typer.Option("--by-class", help="Also class by class.")] = False,
    open_world: Annotated[
        bool,
        typer.Option("--open-world", help="Bounds of OpenworldAUC, of streams of `openworld predict --out`."),
    ] = False,
    new_share: Annotated[
        float | None, typer.Option(help="Beside --open-world: share of new images, where it is known; a fraction.")
    ] = None,
    base_names: Annotated[
        Path | None, typer.Option(help="Beside --open-world: text file of base names, where the streams lack them.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep page, plot, JSON (and scores of images) here.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of samples and intervals.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tell how accurate a model is on a target without labels, from a labelled source and what the model says of both.

    ```
    openworld estimate --source val.npz --target live.parquet --out runs/live
    openworld estimate --source val/ --target new/ --model my-classifier
    openworld estimate --source val.npz --target live.parquet \\
        --timestamps time --period 1d --alert 0.8
    ```

    One number with an interval, or that it cannot be told, why, and between what bounds it lies. No target label is
    looked at.

    **Score files** (.npz, .safetensors, .parquet, .csv) have an entry per image: `logits` [n, C] or `probabilities`,
    and `labels` of the source; perhaps `classnames` [C], `reference` and `partner_1`, ... [n, C] of other models. Files
    with `embeddings` [n, D] need `classnames` and `class_embeddings` [C, D], there or in the file that is `--model`.

    **Images** are a folder, for a source with a sub-folder per class, or NAME/DOMAIN/PART of `openworld list datasets`.
    They need `--model`: a saved classifier, a state dict, `timm:NAME`, a backbone, or `module:function`.

    Over time there are two alarms: that the accuracy is below `--alert`, and that images are unlike the source's.

    Exit codes: 0; 3 an alarm stands, beside `--alert`; 4 the accuracy cannot be told; 2 wrong use; 1 failure.

    More on files, models, time, labelled shifts and late labels: docs/estimate.md, docs/own-models.md; on streams with
    new classes (`--open-world`): docs/open-world-without-labels.md; on `--levels`: docs/curve-without-labels.md. As a
    daily job: `openworld estimate fit`, then `openworld estimate watch` (docs/monitoring.md).
    """
    from openworld.applications.estimate import command
    from openworld.applications.estimate.chunks import Chunking
    from openworld.applications.estimate.estimation import EstimateOptions, vouched_shares
    from openworld.applications.estimate.inputs import EstimateInputs, ModelNames, named_shift
    from openworld.applications.estimate.open_world.command import estimate_open_world, require_open_world
    from openworld.cli import console

    others = {"model": model, "architecture": architecture, "classnames": classnames, "template": template}
    others |= {"reference": reference, "partner": partner, "source_partner": source_partner}
    others |= {"target_partner": target_partner, "labelled_shift": labelled_shift, "chunks": chunks}
    others |= {"chunk_rows": chunk_rows, "timestamps": timestamps, "period": period, "alert": alert}
    others |= {"false_alarms": false_alarms, "by_class": by_class, "levels": levels, "zero_shot": zero_shot}
    others |= {"labels": labels is not None, "propose": propose, "estimator": estimator}
    others |= {"same_shares": same_shares, "other_shares": other_shares}
    own = {"new_share": new_share, "base_names": base_names}
    require_open_world(open_world, own, others)
    made = {"command": " ".join(console.command())}
    screen = console.output(quiet=quiet or as_json)
    if open_world:
        with console.observer(screen) as observer:
            answer = estimate_open_world(source, target, **own, seed=seed, out=out, observer=observer, made=made)
        _end(answer, screen, out, as_json)
        return
    chunking = Chunking(chunks, chunk_rows, period, bool(timestamps))
    vouched = vouched_shares(same_shares, other_shares)
    options = EstimateOptions(tuple(estimator or ()), chunking, by_class, alert, false_alarms, seed, vouched=vouched)
    functions = tuple(architecture or ())
    models = ModelNames(model, classnames, template, reference, tuple(partner or ()), device, functions)
    partners = tuple(source_partner or ()), tuple(target_partner or ())
    shifts = tuple(map(named_shift, labelled_shift or ()))
    inputs = EstimateInputs(
        source, target, models, *partners, timestamps, shifts, out, levels, zero_shot, labels, propose
    )
    with console.observer(screen) as observer:
        answer = command.estimate(inputs, options, observer, made)
    _end(answer, screen, out, as_json)


def _end(answer, screen, out: Path | None, as_json: bool) -> None:
    """Show an answer, say where it lies, and end with the code that it asks for."""
    from openworld.applications.estimate.command import JSON
    from openworld.cli import console

    kept = "" if out is None else f"Numbers: {out / JSON}   Plots: {out}/*.svg"
    console.show(answer, screen, out=out, kept=kept, as_json=as_json)
    asked = getattr(answer.found, "alert", None) is not None
    if answer.found.alerts or (asked and answer.found.shift_alerts):
        sys.exit(ALERTED)
    if answer.found.unknown:
        sys.exit(UNKNOWN)
