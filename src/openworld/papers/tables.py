"""The result tables of the papers as data: what each shows, on what, read from which kind of run, laid out how.

`TABLES` is the one place that says it. Hua et al. (2025), "OpenworldAUC": recognition, imbalance, domain and
cross-data-set generalisation, cost. "OpenPL": curves (Tables 2 to 5 and 10 to 33) and ranks (6 to 9 and 36 to 57).
"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP): errors of accuracy estimates (Tables
1, 3, 4, 6 and 7) and calibration (2). "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox"
(IS-OOD): how detectors follow semantic and covariate shift (Tables 1, 2 and 4 to 7), decomposed features (3), labelling
issues (8).
"""

from collections.abc import Iterator
from dataclasses import dataclass

COOP_DATASETS = (
    *("ImageNet", "Caltech101", "OxfordPets", "StanfordCars", "Flowers102", "Food101"),
    *("FGVCAircraft", "SUN397", "DTD", "EuroSAT", "UCF101"),
)
VARIANTS = ("ImageNetV2", "ImageNet-Sketch", "ImageNet-A", "ImageNet-R")
SOURCE = "ImageNet"
KIND_OF_TASK = {
    "recognition": "recognition",
    "imbalance": "recognition",
    "ratio sweep": "recognition",
    "gates": "recognition",
    "size": "recognition",
    "time": "recognition",
    "domain generalisation": "generalisation",
    "cross-data-set": "generalisation",
    "emerging-classes": "dynamic",
    "varying-ratio": "dynamic",
    "distribution-shift": "dynamic",
    "co-evolution": "dynamic",
    "accuracy estimation": "accuracy-estimation",
    "calibration": "accuracy-estimation",
    "OOD detection": "ood-detection",
    "labelling issues": "ood-detection",
    "decomposed zero-shot": "decomposed-zero-shot",
}
PARTS = ("BaseAcc", "NewAcc", "HM", "AUROC")
CURVE = ("Acc(0)", "AUC", "WA", "EVM", "VS", "PosArea", "NegArea")
RANKS = ("Friedman_rank", "Final_rank", "delta_AUC", "delta_PN")


@dataclass(frozen=True)
class PaperTable:
    """One result table of a paper."""

    paper: str  # a key of `PAPERS`
    number: str  # as printed; "8-9" are two tables that share their sub-tables
    title: str  # what it shows, in a few words
    tasks: tuple[str, ...]  # what is played, keys of `KIND_OF_TASK`; several where a table joins them
    metrics: tuple[str, ...]  # in the order printed, names of `METRICS`
    datasets: tuple[str, ...] = COOP_DATASETS  # in the order printed, without averages but with what they average
    columns: tuple[str, ...] = ("dataset",)  # what the columns differ in: "dataset", "setting", "metric", "task"
    rows: str = "method"  # what the rows differ in: "method", "setting" or "dataset"
    printed: bool = True  # False where the numbers are missing from the text that is published: ours stand alone
    averages: str = ""  # over data sets: "beside" the numbers of each, "alone", or "" for none
    methods: str = "all"  # of ours: "all", or "printed" for those of the table alone

    @property
    def kinds(self) -> tuple[str, ...]:
        """The evaluations of the runs it is read from, such as "recognition" or "dynamic"."""
        return tuple(dict.fromkeys(KIND_OF_TASK[task] for task in self.tasks))

    @property
    def heading(self) -> str:
        """Number and title, as one line."""
        return f"{PAPERS[self.paper]}, {self.short_heading}"

    @property
    def short_heading(self) -> str:
        """The same where the paper is named elsewhere."""
        return f"{'Tables' if '-' in self.number else 'Table'} {self.number}: {self.title}"


PAPERS = {
    "openworldauc": "OpenworldAUC (Hua et al., 2025)",
    "openpl": "OpenPL",
    "frap": "FRAP",
    "is-ood": "IS-OOD (Long et al., 2024)",
}
MODELS = {
    "openworldauc": "CLIP ViT-B/16",
    "openpl": "CLIP ViT-B/16",
    "frap": "CLIP ViT-B/32 and SigLIP ViT-B/16 as references",
    "is-ood": "ResNet-50 of ImageNet-1K (Table 3: a CLIP that is not named)",
}
"""Paper -> the pretrained model behind its numbers."""

_SCENARIOS = {
    "emerging-classes": "emerging new classes",
    "varying-ratio": "varying ratio of new classes",
    "distribution-shift": "dynamic distribution shift",
    "co-evolution": "co-evolution of distribution and classes",
}
_BY_CLASSES = (  # OpenPL's appendix prints its data sets in this order
    *("ImageNet", "Caltech101", "DTD", "EuroSAT", "FGVCAircraft", "Food101"),
    *("Flowers102", "OxfordPets", "StanfordCars", "SUN397", "UCF101"),
)
_IMBALANCED = ("DTD", "Food101", "Flowers102", "OxfordPets", "SUN397")
_CROSSED = ("FGVCAircraft", "Caltech101", "StanfordCars", "DTD", "EuroSAT", "SUN397", "UCF101")


AVERAGED = {  # columns of Table 15 as the paper calls them: the task, and the data sets that a column averages
    "open-world recognition": ("recognition", COOP_DATASETS),
    "open-world recognition (imbalanced test sets)": ("imbalance", _IMBALANCED),
    "domain adaption (column name as printed)": ("domain generalisation", (SOURCE,)),  # it repeats the source
    "complexity": ("size", COOP_DATASETS),
}


def _hua(number: str, title: str, tasks: tuple[str, ...], metrics=("OpenworldAUC",), **layout) -> PaperTable:
    return PaperTable("openworldauc", number, title, tasks, metrics, **{"averages": "beside"} | layout)


def _curve_table(number: int, scenario: str, dataset: str, *, printed: bool = True) -> PaperTable:
    title = f"{_SCENARIOS[scenario]} on {dataset}"
    return PaperTable("openpl", str(number), title, (scenario,), CURVE, (dataset,), ("metric",), printed=printed)


def _rank_table(number: int, scenario: str, datasets: tuple[str, ...]) -> PaperTable:
    where = f"on {datasets[0]}" if len(datasets) == 1 else "averaged"
    title = f"robustness and ranks under {_SCENARIOS[scenario]}, {where}"
    return PaperTable("openpl", str(number), title, (scenario,), RANKS, datasets, ("metric",))


def _openpl() -> Iterator[PaperTable]:
    for number, scenario, dataset in (
        (2, "emerging-classes", "DTD"),
        (3, "varying-ratio", "FGVCAircraft"),
        (4, "distribution-shift", "ImageNet-R"),
        (5, "co-evolution", "EuroSAT"),
    ):
        yield _curve_table(number, scenario, dataset)
    others = tuple(name for name in _BY_CLASSES if name != SOURCE)
    for number, scenario, datasets in (
        (6, "emerging-classes", _BY_CLASSES),
        (7, "varying-ratio", _BY_CLASSES),
        (8, "distribution-shift", VARIANTS),
        (9, "co-evolution", others),
    ):
        yield _rank_table(number, scenario, datasets)
    for number, dataset in enumerate(_BY_CLASSES, 10):
        yield _curve_table(number, "emerging-classes", dataset)
    for number, dataset in enumerate(_BY_CLASSES, 21):
        yield _curve_table(number, "varying-ratio", dataset)
    yield _curve_table(32, "distribution-shift", "ImageNet-A")
    yield _curve_table(33, "distribution-shift", "ImageNet-R")
    yield _curve_table(34, "distribution-shift", "ImageNet-Sketch", printed=False)
    yield _curve_table(35, "distribution-shift", "ImageNetV2", printed=False)
    for number, dataset in enumerate(_BY_CLASSES, 36):
        yield _rank_table(number, "emerging-classes", (dataset,))
    for number, dataset in enumerate(_BY_CLASSES, 47):
        yield _rank_table(number, "varying-ratio", (dataset,))


_HUA = (
    _hua("2", "open-world recognition", ("recognition",)),
    _hua(
        "3",
        "open-world recognition, base and new images five to one and one to five",
        ("imbalance",),
        datasets=_IMBALANCED,
        columns=("dataset", "setting"),
    ),
    _hua(
        "4",
        "open-world domain generalisation from ImageNet",
        ("domain generalisation",),
        datasets=(SOURCE, "ImageNetV2", "ImageNet-Sketch", "ImageNet-R", "ImageNet-A"),
    ),
    _hua("7", "tuned parameters", ("size",), ("n_params",), columns=("metric",), averages="alone"),
    _hua(
        "8-9",
        "open-world recognition in detail",
        ("recognition",),
        ("HM", "AUROC", "OpenworldAUC"),
        columns=("dataset", "metric"),
    ),
    _hua(
        "10",
        "open-world domain generalisation in detail",
        ("domain generalisation",),
        ("HM", "AUROC", "OpenworldAUC"),
        datasets=VARIANTS,
        columns=("dataset", "metric"),
    ),
    _hua(
        "11",
        "other shares of new images, DTD",
        ("ratio sweep",),
        (*PARTS, "OverallAcc", "OpenworldAUC"),
        datasets=("DTD",),
        columns=("metric",),
        rows="setting",
    ),
    _hua(
        "12",
        "other shares of new images, Flowers102",
        ("ratio sweep",),
        (*PARTS, "OverallAcc", "OpenworldAUC"),
        datasets=("Flowers102",),
        columns=("metric",),
        rows="setting",
    ),
    _hua("13", "new classes of other data sets, base classes of ImageNet", ("cross-data-set",), datasets=_CROSSED),
    _hua(
        "14",
        "fine-grained analysis",
        ("recognition", "domain generalisation"),
        (*PARTS, "OpenworldAUC"),
        datasets=("Flowers102", SOURCE, "ImageNetV2", "ImageNet-Sketch"),
        columns=("dataset", "metric"),
    ),
    _hua(
        "15",
        "averages over the tasks, and tuned parameters",
        ("recognition", "imbalance", "domain generalisation", "size"),
        ("OpenworldAUC", "n_params_thousand"),
        datasets=(*COOP_DATASETS, *VARIANTS),
        columns=("task",),
    ),
    _hua("16", "inference time", ("time",), ("inference_time_s",), columns=("metric",), averages="alone"),
    _hua("17", "GMoP's gate", ("gates",)),
)

SHIFTS = (
    *("MNIST", "C10-N", "C10-S", "C100-N", "C100-S", "IN-S", "IN-N", "IN200-S", "IN200-N", "FMoW"),
    *("L17-S", "L17-N", "NL26-S", "NL26-N", "E13-S", "E13-N", "E30-S", "E30-N"),
)
"""FRAP's eighteen rows: a source data set under natural (N) or synthetic (S) shift; of BREEDS, L17 to E30, S shows the
same subclasses and N novel ones."""

_BREEDS_LAST = (*SHIFTS[:10], "L17-S", "NL26-S", "E13-S", "E30-S", "L17-N", "NL26-N", "E13-N", "E30-N")
_NATURAL_FIRST = (*SHIFTS[:5], "IN-N", "IN-S", "IN200-N", "IN200-S", *_BREEDS_LAST[9:])
_CALIBRATED = (
    *("CIFAR-10", "CIFAR-100", "FMoW", "ImageNet", "MNIST", "Tiny-ImageNet"),
    *("Entity-13", "Entity-30", "Living-17", "Nonliving-26"),
)


def _frap(number: str, title: str, datasets=SHIFTS, task="accuracy estimation", metric="MAE", **layout) -> PaperTable:
    layout = {"columns": ("method",), "rows": "dataset", "averages": "beside", "methods": "printed"} | layout
    return PaperTable("frap", number, title, (task,), (metric,), datasets, **layout)


_FRAP = (
    _frap("1", "mean absolute error of accuracy estimates"),
    _frap(
        "2",
        "calibration of the references",
        _CALIBRATED,
        "calibration",
        "ECE",
        columns=("dataset",),
        rows="method",
        averages="",
    ),
    _frap("3", "fixed temperatures of the reference"),
    _frap("4", "other references, averages", averages="alone"),
    _frap("6", "without threshold", _NATURAL_FIRST),
    _frap("7", "other references", _BREEDS_LAST),
)


def _shift(number: str, metric: str, dataset: str) -> PaperTable:
    title, metrics = f"how {metric} follows shift on {dataset}", (f"correlation({metric})", f"sensitivity({metric})")
    return PaperTable(
        "is-ood", number, title, ("OOD detection",), metrics, (dataset,), ("setting", "metric"), methods="printed"
    )


_IS_OOD = (
    _shift("1", "AUROC", "ImageNet-21K"),
    _shift("2", "AUROC", "Syn-IS"),
    PaperTable(
        "is-ood",
        "3",
        "zero-shot accuracy of decomposed features",
        ("decomposed zero-shot",),
        ("Acc@1", "Acc@5"),
        ("ImageNet-1K", "ImageNet-C", "ImageNet-R"),
        columns=("setting", "dataset", "metric"),
    ),
    _shift("4", "FPR@95", "ImageNet-21K"),
    _shift("5", "FPR@95", "Syn-IS"),
    _shift("6", "AUPR", "ImageNet-21K"),
    _shift("7", "AUPR", "Syn-IS"),
    PaperTable(
        "is-ood",
        "8",
        "AUROC with more and with fewer labelling issues",
        ("labelling issues",),
        ("AUROC",),
        ("ImageNet-21K",),
        columns=("setting",),
        methods="printed",
    ),
)

TABLES: dict[str, dict[str, PaperTable]] = {
    "openworldauc": {table.number: table for table in _HUA},
    "openpl": {table.number: table for table in _openpl()},
    "frap": {table.number: table for table in _FRAP},
    "is-ood": {table.number: table for table in _IS_OOD},
}
