"""`openworld estimate fit` and `openworld estimate watch`: monitoring as a daily job."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Quiet
from openworld.cli.estimate import ALERTED, UNKNOWN


def fit_watch(
    source: Annotated[list[str], typer.Option(help="File of labelled scores; repeat it for files that go on.")],
    out: Annotated[Path, typer.Option(help="File to write, such as watch.safetensors.")],
    classnames: Annotated[Path | None, typer.Option(help="Text file, a class name per line, in order.")] = None,
    estimator: Annotated[
        list[str] | None, typer.Option(help="Only these (openworld list); the first is quoted.")
    ] = None,
    timestamps: Annotated[str, typer.Option(help="Column of time stamps of the files to come.")] = "",
    period: Annotated[str, typer.Option(help="Beside --timestamps: 6h, 1d, 2w, 1month.")] = "",
    chunk_rows: Annotated[int, typer.Option(min=0, help="In place of --period: a period has so many rows.")] = 0,
    images: Annotated[
        list[int] | None, typer.Option(min=1, help="Images that a period usually has; repeat it; 1000 if left out.")
    ] = None,
    alert: Annotated[float | None, typer.Option(help="Fraction: an alarm where the accuracy is found below.")] = None,
    false_alarms: Annotated[
        float | None,
        typer.Option(help="Share of years of 365 periods in which either alarm may be raised by chance; 0.05."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of samples and draws.")] = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
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
    """
    from openworld.applications.watch import command
    from openworld.applications.watch.fitted import WatchSettings
    from openworld.cli import console

    settings = WatchSettings(tuple(estimator or ()), timestamps, period, chunk_rows, alert, false_alarms, seed)
    screen = console.output(quiet=quiet or as_json)
    with console.observer(screen) as observer:
        made = {"command": " ".join(console.command())}
        answer = command.fit(
            source, out, settings, classnames=classnames, images=images or (), observer=observer, made=made
        )
    console.show(answer, screen, as_json=as_json)


def watch(
    fitted: Annotated[Path, typer.Argument(help="What `openworld estimate fit` wrote.")],
    new: Annotated[
        list[str] | None, typer.Argument(help="New files of scores, in order of time; none to look again.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="File that lets the next call go on; beside FITTED if left out.")
    ] = None,
    json_lines: Annotated[Path | None, typer.Option(help="Append a line per finished period here.")] = None,
    prometheus: Annotated[
        Path | None, typer.Option(help="Write the numbers here for node_exporter's textfile collector (.prom).")
    ] = None,
    close: Annotated[bool, typer.Option("--close", help="The last period ends with the last file.")] = False,
    labels: Annotated[
        Path | None, typer.Option(help="Labels of images of finished periods that came late: id, label, inclusion.")
    ] = None,
    propose: Annotated[
        int, typer.Option(min=0, help="Write about so many images of the last finished period to label to --out.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Keep page, plots and JSON here.")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
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

    **Numbers.** Estimated accuracy with its interval (or bounds, where it cannot be told, and while the shift alarm
    stands); the statistics of both alarms relative to their limits, above 1 an alarm; how far the predicted classes,
    and the confidences, lie from the source (energy distances); images counted.

    **Late labels**: `--labels FILE` has a row an image: `id` (what the files that were counted call it; or `row`, its
    place among all images of the watch, from 0), `label`, a class or `other`, and `inclusion`, the probability with
    which it was drawn to be labelled. Drawn labels turn the estimate of a finished period, one of the last 60, into an
    interval that holds, and correct periods that end later; labels without `inclusion` only stand beside it. They are
    read before new files; a sheet that was read is recognised and not read again. `--propose 50` draws the images of
    the last finished period whose labels tell most.

    **Safe.** The state is written in one step. After a kill or a full disk run the same command again: it goes on, and
    lines that were not written are written. A second call on the same state is refused while the first is at work.

    Exit codes: 0; 3 where either alarm stands in a new period; 4 where the accuracy of one cannot be told; 2 wrong use;
    1 failure.
    """
    from openworld.applications.watch import command
    from openworld.cli import console

    files = command.WatchFiles(state, json_lines, prometheus, out, labels, propose)
    screen = console.output(quiet=quiet or as_json)
    with console.observer(screen) as observer:
        made = {"command": " ".join(console.command())}
        answer = command.watch(fitted, new or [], files, close=close, observer=observer, made=made)
    kept = "" if out is None else f"Numbers: {out / 'watch.json'}"
    console.show(answer, screen, out=out, kept=kept, as_json=as_json)
    if answer.found.alerts or answer.found.shift_alerts:
        sys.exit(ALERTED)
    if answer.found.unknown:
        sys.exit(UNKNOWN)
