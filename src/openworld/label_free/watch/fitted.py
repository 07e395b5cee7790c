"""What depends on the source alone, fitted once: its sample and temperature, what its methods say of sets like it.

Kept in one file, without pickle: the source as far as a `Sampler` keeps it (of 1,000 classes at most 20,000 images, in
the fewest bytes that are exact), with embeddings and looks of its images where it has them, the temperature, and, by
size of a period, the nulls of the methods, that of the alert, its k and h, and the test of shifts. The methods
themselves are made of these when the file is read, in a second or two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.engine.checks import check_confidence
from openworld.estimators.engine.temperature import Temperature, temperature_of
from openworld.label_free.estimate.accuracy_estimate import ScoredSet
from openworld.label_free.estimate.estimation import fit_all
from openworld.label_free.estimate.quotes import DECIDING, Measured, Quoting
from openworld.label_free.estimate.reading import Pass, Progress, ScoreTable, remarks
from openworld.label_free.estimate.results import ALARM
from openworld.label_free.settings import Settings
from openworld.report.layout import Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted, percent
from openworld.results import Metric, Result, Results, Value
from openworld.runs import read_spec
from openworld.runs.sealed import read_arrays, write_arrays

FITTED = "what `openworld estimate fit` writes"
USUAL_IMAGES = 1_000
VECTORS = ("features", "appearance")
"""What a watch keeps of images beside what models say of them."""

LOW = Metric("source_like_low", "of the source, low", better=0)
HIGH = Metric("source_like_high", "of the source, high", better=0)
LAYOUT = Layout(
    "A source fitted for watching",
    "",
    (
        Pivot(
            name="sizes",
            title="Sizes of periods",
            rows=("period",),
            note="What DoC says of periods like the source, 95 % of them; and what raises an alarm.",
        ),
    ),
)


@dataclass(frozen=True, eq=False)
class Watch:
    """A source as it was fitted."""

    outputs: Outputs  # of its sample, with labels
    source: ScoredSet
    classnames: tuple[str, ...] | None
    settings: Settings
    names: tuple[str, ...]  # of the methods
    measured: Measured = field(default_factory=Measured)
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)  # facts by name, such as the SHA-256 of its files
    fingerprint: str = ""  # of the file it is kept in

    @property
    def needs(self) -> set[str]:
        """What a new file must hold beside logits."""
        return {need for name in self.names for need in find_estimator(name).needs} - {"labels"}

    def quoting(self, measured: Measured, progress: Progress | None = None) -> Quoting:
        """Return what decides what may be quoted, knowing all that was measured."""
        estimators = {name: find_estimator(name)() for name in self.names}
        return Quoting(self.outputs, estimators, self.settings, progress, measured=measured)

    def write(self, path: Path) -> "Watch":
        """Write it in one step; return it with its fingerprint."""
        temperature = temperature_of(self.outputs)
        about = {
            "source": asdict(self.source),
            "classnames": self.classnames,
            "settings": asdict(self.settings),
            "names": self.names,
            "warnings": self.warnings,
            "made": self.made,
            "temperature": {"value": temperature.value, "warning": temperature.warning},
            "measured": self.measured.about(),
        }
        arrays = {"labels": self.outputs.array("labels"), "pulls": temperature.pulls} | dict(self.measured.arrays())
        return replace(self, fingerprint=write_arrays(path, FITTED, about, arrays | tables_of(self.outputs)))


def read_watch(path: Path) -> Watch:
    """Return what `openworld estimate fit` wrote. Raises as `read_arrays` does."""
    return read_arrays(path, FITTED, _watch_of)


def _watch_of(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], fingerprint: str) -> Watch:
    outputs = outputs_of(arrays, arrays["labels"])
    known = about["temperature"]
    temperature = Temperature(known["value"], arrays["pulls"], known["warning"])
    outputs.once("temperature", lambda: temperature)
    settings = read_spec(about["settings"], Settings)
    return Watch(
        outputs,
        ScoredSet(**about["source"]),
        None if about["classnames"] is None else tuple(about["classnames"]),
        settings,
        tuple(about["names"]),
        Measured.of(about["measured"], arrays),
        tuple(about["warnings"]),
        about["made"],
        fingerprint,
    )


def tables_of(outputs: Outputs) -> dict[str, np.ndarray]:
    """Return the tables of scores and vectors by name, each in the fewest bytes that are exact."""
    tables = {"logits": outputs.logits, "reference": outputs.reference}
    tables |= {"features": outputs.features, "appearance": outputs.appearance}
    tables |= {f"partner.{place}": partner for place, partner in enumerate(outputs.partners)}
    tables, exact = {name: table for name, table in tables.items() if table is not None}, {}
    with np.errstate(over="ignore"):
        for name, table in tables.items():
            narrow = (table.astype(kind) for kind in (np.float16, np.float32))
            exact[name] = next((narrowed for narrowed in narrow if np.array_equal(narrowed, table)), table)
    return exact


def outputs_of(arrays: Mapping[str, np.ndarray], labels: np.ndarray | None = None) -> Outputs:
    partners = [name for name in arrays if name.startswith("partner.")]
    partners = tuple(arrays[name] for name in sorted(partners, key=lambda name: int(name.partition(".")[2])))
    vectors = {name: arrays.get(name) for name in VECTORS}
    return Outputs(arrays["logits"], labels, arrays.get("reference"), partners, **vectors)


def fit_source(
    source: ScoreTable,
    settings: Settings,
    sizes: Sequence[int] = (USUAL_IMAGES,),
    progress: Progress | None = None,
    made: Mapping[str, str] | None = None,
) -> Watch:
    """Fit on a labelled source all that depends on nothing else; sizes: images that a period usually has."""
    reading = Pass(source.with_vectors(), "reading the source", progress)
    reading.require_labels("the source must say what its images are: add `labels`.")
    outputs = reading.outputs
    without = () if outputs.reference is not None else ("reference",)
    usual = tuple(name for name in DECIDING if not set(without) & set(find_estimator(name).needs))
    names = settings.estimators or usual
    fit_all(names, outputs, outputs)  # refuses what cannot be had
    warnings = remarks(reading)
    watch = Watch(outputs, reading.side, source.classnames, settings, names, Measured(), warnings, made or {})
    quoting = watch.quoting(watch.measured, progress)
    quoting.require_testable()
    for size in sizes:
        if size < 1:
            raise OpenworldError(f"{size} images of a period are none; give how many it usually has.")
        if quoting.first is None:
            quoting.of_source(DECIDING[0], size)
        quoting.shift_test(size)
        if settings.alert is not None:
            quoting.limit(size)
    return watch


def fit_report(watch: Watch, path: Path) -> Report:
    """Return what was fitted, and what it takes for an alarm by size of a period."""
    source = watch.source
    first = (
        f"Fitted on {source.name} ({counted(source.n, 'labelled image')}, {percent(source.accuracy)} % right): {path}, "
        f"{path.stat().st_size / 1e6:.1f} MB."
    )
    sampled = "" if watch.outputs.n == source.n else f"It holds a uniform sample of {watch.outputs.n:,} of them. "
    said = (
        first,
        f"{sampled}Methods: {', '.join(watch.names)}. Other sizes of periods are measured when they are first met.",
        f"Then, with every new file: openworld estimate watch {path} NEW.parquet",
        *_alarms(watch),
    )
    facts = {
        "fingerprint": watch.fingerprint,
        "source": {"name": source.name, "images": source.n, "accuracy": source.accuracy},
        "kept": watch.outputs.n,
        "methods": list(watch.names),
        "sizes": sorted({*watch.measured.quotes, *watch.measured.limits}),
        "alarms": {"accuracy_below": watch.settings.alert, "shift": True, "false_alarms": watch.settings.false_alarms},
        "confidence_tells": check_confidence(watch.outputs).tells,
        "warnings": list(watch.warnings),
        "made": dict(watch.made),
    }
    notes = tuple(f"Note: {warning}." for warning in watch.warnings)
    results = Results("watch-fit", tuple(_sizes(watch)))
    brief = Brief(results, subtitle=(source.name,), sentences=said, warnings=notes)
    return LAYOUT.report(brief, found=watch, made=watch.made, facts=facts)


def _alarms(watch: Watch) -> list[str]:
    """Return which alarms there are, how often they are false, and whether confidences show the accuracy."""
    settings, check = watch.settings, check_confidence(watch.outputs)
    rate = f"{100 * settings.false_alarms:.3g} % of years of 365 periods"
    text = [f"Shift alarm: where images over time are no longer like the source's; by chance in {rate}."]
    if settings.alert is not None:
        by = f"Accuracy alarm: where the accuracy is found below {percent(settings.alert)} %"
        text.append(f"{by}; by chance in {rate} that are all {percent(settings.alert)} % right.")
    elif check.tells:
        text.append("No accuracy alarm: add --alert 0.8, say, for one.")
    if not check.tells:
        rest = "no accuracy alarm"
        if settings.alert is not None:
            rest = "the accuracy alarm tests what the reference shows"
        text.append(f"Beware: {check.why}. So {rest}, and only labels give the accuracy.")
    return text


def _sizes(watch: Watch) -> Iterator[Result]:
    """Yield, by size of a period, what is quoted of periods like the source, and what raises an alarm."""
    measured, alert = watch.measured, watch.settings.alert
    for size in sorted({*measured.quotes, *measured.limits}):
        null = measured.quotes.get(size, {}).get("DoC")
        low, high = (None, None) if null is None else null.range
        numbers = {LOW: low, HIGH: high}
        if alert is not None and size in measured.limits:
            limit = measured.limits[size]
            numbers |= {ALARM["alone"]: limit.alone(size, alert), ALARM["lasting"]: limit.lasting(size, alert)}
        for metric, number in numbers.items():
            value = Value(number, (), "" if number is not None else "not measured")
            yield Result("", metric, value, {"period": size, "period_name": f"{size:,} images"})
