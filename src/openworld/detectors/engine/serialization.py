"""Fitted detectors, and what was gathered for them, in one safetensors file: JSON in its header, no pickle.

Bounded by what is learned: a few MB for covariances and heads, the whole bank for KNN. Detectors that were fitted
together are written together, and share head, texts and whatever tensor they have in common.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld._types import checked
from openworld.detectors.engine.fit_statistics import FitStatistics, statistics_of
from openworld.detectors.engine.fitted import FittedDetector
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.tensor_trees import classes_beside, put_together, take_apart
from openworld.detectors.engine.texts import Texts
from openworld.runs import to_json
from openworld.runs.atomic import writing

FITTED, GATHERED = "openworld fitted detectors", "openworld gathered statistics"
WRITERS = {FITTED: "`FittedDetector.save` or `save_together`", GATHERED: "`FitStatistics.save`"}
OURS = {"Head": Head, "Texts": Texts}


@checked
def save_together(fitted: Mapping[str, FittedDetector], path: Path | str) -> None:
    """Write fitted detectors into one file, scores of which are the same to the last bit when it was read again.

    Args:
        fitted: fitted detectors by a label of yours, as `fit_together` and `Plan.fit` give them.
        path: of the file; its folder is made where it is missing.
    Raises:
        OpenworldError: a state that cannot be written (`PytorchOOD` has one), a file that cannot.
    """
    tensors: dict[str, Tensor] = {}
    form = {label: _fitted_form(fit, str(place), tensors) for place, (label, fit) in enumerate(fitted.items())}
    _write(Path(path), FITTED, form, tensors)


@checked
def load_together(path: Path | str, *, kinds: Iterable[type] = (), device: str = "cpu") -> dict[str, FittedDetector]:
    """Read what `save_together` or `FittedDetector.save` wrote.

    Args:
        kinds: classes of detectors in the file that are neither ours nor installed plug-ins.
        device: where what was learned is to lie; that of the features which are to be scored is fastest.
    Raises:
        OpenworldError: no such file, another kind of file, one of another version, an unknown detector.
    """
    form, tensors = _read(Path(path), FITTED, device)
    with _with_reasons(path, FITTED):
        fitted = {}
        for label, entry in form.items():
            detector = _detector(entry["detector"], kinds)
            state = put_together(entry["state"], tensors, classes_beside(detector))
            head, texts = (put_together(entry[part], tensors, OURS) for part in ("head", "texts"))
            fitted[label] = FittedDetector(detector, state, head, texts, tuple(entry["warnings"]), entry["width"])
        return fitted


@checked
def load_fitted(path: Path | str, *, kinds: Iterable[type] = (), device: str = "cpu") -> FittedDetector:
    """Read what `FittedDetector.save` wrote; arguments and errors as for `load_together`, and a file of several is
    refused.

    >>> import tempfile, torch
    >>> from openworld.detectors import KNN
    >>> path = Path(tempfile.mkdtemp(), "knn.safetensors")
    >>> KNN(k=1).fit(torch.eye(2)).save(path)
    >>> load_fitted(path).score(torch.tensor([[-1.0, 0.0]])).tolist()
    [-2.0]
    """
    detectors = load_together(path, kinds=kinds, device=device)
    if len(detectors) != 1:
        raise OpenworldError(f"{path} holds {len(detectors)} fitted detectors; read them with `load_together`.")
    return next(iter(detectors.values()))


def save_gathered(gathered: FitStatistics, path: Path | str) -> None:
    """Write what was gathered of a shard; what `FitStatistics.save` calls."""
    tensors: dict[str, Tensor] = {}
    classes = [classes_beside(statistic) for statistic in statistics_of(gathered.detectors)]
    form = {
        "detectors": {label: _settings(detector) for label, detector in gathered.detectors.items()},
        "totals": [
            take_apart(total, f"totals.{place}", tensors, classes[place]) for place, total in enumerate(gathered.totals)
        ],
        "head": take_apart(gathered.head, "head", tensors, OURS),
        "texts": take_apart(gathered.texts, "texts", tensors, OURS),
        "least": gathered.least,
        "width": gathered.width,
    }
    _write(Path(path), GATHERED, form, tensors)


@checked
def load_gathered(path: Path | str, *, kinds: Iterable[type] = (), device: str = "cpu") -> FitStatistics:
    """Read what `FitStatistics.save` wrote; arguments and errors as for `load_together`."""
    form, tensors = _read(Path(path), GATHERED, device)
    with _with_reasons(path, GATHERED):
        detectors = {label: _detector(entry, kinds) for label, entry in form["detectors"].items()}
        pairs = zip(statistics_of(detectors), form["totals"], strict=bool(form["totals"]))
        totals = tuple(put_together(total, tensors, classes_beside(detector)) for detector, total in pairs)
        head, texts = (put_together(form[part], tensors, OURS) for part in ("head", "texts"))
        return FitStatistics(detectors, totals, head, texts, form["least"], form["width"])


def _fitted_form(fitted: FittedDetector, where: str, tensors: dict[str, Tensor]) -> dict:
    return {
        "detector": _settings(fitted.detector),
        "state": take_apart(fitted.state, f"{where}.state", tensors, classes_beside(fitted.detector)),
        "head": take_apart(fitted.head, f"{where}.head", tensors, OURS),
        "texts": take_apart(fitted.texts, f"{where}.texts", tensors, OURS),
        "warnings": list(fitted.warnings),
        "width": fitted.width,
    }


def _settings(detector: Any) -> dict:
    return {"name": detector.name, "settings": to_json(detector, f"{detector.name}'s settings")}


def _detector(form: dict, kinds: Iterable[type]) -> Any:
    from openworld.detectors import find_detector

    kind = {kind.name: kind for kind in kinds}.get(form["name"]) or find_detector(form["name"])
    return kind(**form["settings"])


def _write(path: Path, what: str, form: dict, tensors: Mapping[str, Tensor]) -> None:
    from safetensors.torch import save_file

    try:
        with writing(path) as file:  # not as bytes: banks are large
            kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
            for name, value in kept.items():
                if value.untyped_storage().nbytes() != value.nbytes:  # safetensors wants memory of its own for each
                    kept[name] = value.clone()
            save_file(kept, file.name, metadata={what: json.dumps(form)})
    except OSError as error:
        raise OpenworldError(f"{path} cannot be written ({error}); choose another place.") from error


def _read(path: Path, what: str, device: str) -> tuple[dict, dict[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt", device=device) as file:
            headers = file.metadata() or {}
            if what not in headers:
                raise ValueError("it is a file of another kind")
            names = file.keys()
            # Copied: in the file they are not aligned, on which the last bit of a product depends.
            return parse_json(headers[what]), {name: file.get_tensor(name).clone() for name in names}
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and path.is_file():
            raise OpenworldError(
                f"{path} cannot be read to device {device!r} ({error}); give one that is here."
            ) from error
        raise OpenworldError(
            f"{path} holds no {what.removeprefix('openworld ')} ({error}); give a file that {WRITERS[what]} wrote."
        ) from error


@contextmanager
def _with_reasons(path: Path | str, what: str):
    """What does not fit inside a file of the right kind is an error of the file."""
    try:
        yield
    except OpenworldError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise OpenworldError(
            f"{path} holds {what.removeprefix('openworld ')} of another version, or is damaged ({error}); "
            f"write it again with {WRITERS[what]}."
        ) from error
