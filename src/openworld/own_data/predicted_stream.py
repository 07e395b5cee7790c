"""What a fitted learner says about images as an open-world stream: a file that needs neither images nor model again."""

from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.names.forms import normalise_class_name, readable_class_name
from openworld.own_data.predict import PredictedImages, PredictionInputs
from openworld.runs.atomic import write_file
from openworld.runs.outputs import require_file
from openworld.tables.stream import stream_bytes
from openworld.tables.writing import require_kind


def require_stream(out: Path | None, inputs: PredictionInputs, labelled: bool) -> None:
    """Refuse, before any image is read, what cannot become a stream: another ending, no new names, unknown classes."""
    if out is None:
        if labelled:
            raise OpenworldError("--labelled came without --out; labels are kept in a stream: give --out FILE.")
        return
    require_file("--out", out, inputs=inputs.paths)
    require_kind(out)
    if not inputs.new_names:
        raise OpenworldError("a stream needs new names; give --new NAME, --new-names FILE or, of a run, --run-names.")
    if labelled:
        true_classes(inputs)


def write_predicted(found: PredictedImages, out: Path, labelled: bool) -> Path:
    """Write what the learner says of every readable image; labelled: also `side` and `label`, from folder names."""
    inputs, answer = found.inputs, found.answer
    require_stream(out, inputs, labelled)
    base_names, new_names = tuple(inputs.fitted.classnames), inputs.new_names
    rows = [prediction.row for prediction in found.predictions]
    columns = {"image": _texts(str(inputs.paths[row]) for row in rows)}
    if inputs.dataset is not None:
        columns["group"] = inputs.dataset.groups[rows]
    if labelled:
        sides, names = true_classes(inputs)
        columns |= {"side": _texts(sides[row] for row in rows), "label": _texts(names[row] for row in rows)}
    columns["score"] = np.asarray(answer.baseness, np.float64)
    columns["base_name"] = _texts(prediction.as_base for prediction in found.predictions)
    columns["new_name"] = _texts(prediction.as_new for prediction in found.predictions)
    columns["joint_name"] = _texts(prediction.guesses[0].name for prediction in found.predictions)
    columns["logits"] = np.asarray(answer.logits, np.float32)
    if answer.base_logits is not None:
        columns["base_logits"] = np.asarray(answer.base_logits, np.float32)
    columns["zero_shot"] = np.asarray(found.zero_shot.logits, np.float32)
    write_file(out, stream_bytes(out.suffix.lower(), columns, (*base_names, *new_names), len(base_names)))
    return out


def true_classes(inputs: PredictionInputs) -> tuple[list[str], list[str]]:
    """Return side and class name of every image, from its folder or the data set; refuse a class of neither side."""
    if inputs.dataset is None:
        classes = [readable_class_name(path.resolve().parent.name) for path in inputs.paths]
    else:
        classes = [inputs.dataset.classnames[label] for label in inputs.dataset.labels]
    known = {normalise_class_name(name): ("new", name) for name in inputs.new_names}
    known |= {normalise_class_name(name): ("base", name) for name in inputs.fitted.classnames}
    odd = list(dict.fromkeys(name for name in classes if normalise_class_name(name) not in known))
    if odd:
        raise OpenworldError(
            f"{len(odd)} of the classes that images are labelled with are neither base nor new names, first "
            f"{odd[0]!r}; images lie in a folder named after their class: rename it, or add the class with --new."
        )
    pairs = [known[normalise_class_name(name)] for name in classes]
    return [side for side, _ in pairs], [name for _, name in pairs]


def _texts(values) -> np.ndarray:
    return np.array(list(values), object)
