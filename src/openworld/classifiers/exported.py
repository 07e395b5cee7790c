"""Classifiers in files that other tools write: `torch.export` (.pt2) and ONNX.

Such a file says what is computed, and neither what the classes are called nor how images are prepared: that stands
beside it, in a JSON file of the same name (`describe` writes it). torch.export unpickles parts of its file, so that it
is loaded only where the user names it as the architecture; ONNX is data, and runs with onnxruntime (extra `onnx`) on
the CPU. TorchScript, which PyTorch has given up, is refused.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from openworld.backbones.foreign.encoder import import_library
from openworld.backbones.preprocess import Preprocess
from openworld.backbones.published_files import not_said
from openworld.classifiers.classifier import Classifier
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import sha256_of
from openworld.core.types import checked
from openworld.runs.atomic import write_file
from openworld.runs.sealed import read_saved

KINDS = {".pt2": "torch.export", ".onnx": "onnx"}
"""Ending of a file -> what its architecture is called."""

MAY_RUN_CODE = ("torch.export",)
"""Architectures whose files may run code when they are loaded."""

LOADED_AS = frozenset(KINDS.values())
"""Architectures of exported files, which say how a file is loaded and not what the network is."""

PICKLES = (".pkl", ".pickle", ".joblib", ".bin")
TORCHSCRIPT = (".pt", ".ts", ".torchscript")


@dataclass(frozen=True)
class _Described:
    """What stands beside an exported file; classes may have numbers for names."""

    classnames: tuple[str | int, ...]
    preprocess: Preprocess


Run = Callable[[Tensor], Tensor]

_EXAMPLE = (
    '{"classnames": ["cat", "dog"], "preprocess": {"resize": 256, "crop": 224, "mode": "shortest", '
    '"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}'
)


def is_exported(place: Path | str) -> bool:
    """Whether this is such a file, or one that `load` refuses; a .pt without a description may be a backbone."""
    path = Path(place)
    if path.suffix.lower() == ".pt":
        return path.is_file() and description_of(path).is_file()
    return path.suffix.lower() in (*KINDS, *PICKLES, *TORCHSCRIPT) and not path.is_dir()


def kind_of(place: Path | str) -> str:
    """What the architecture of such a file is called; "" for anything else."""
    return KINDS.get(Path(place).suffix.lower(), "") if is_exported(place) else ""


def description_of(path: Path | str) -> Path:
    return Path(path).with_suffix(".json")


@checked
def describe(path: Path | str, classnames: Sequence[str], preprocess: Preprocess) -> None:
    """Write what an exported file does not say into the JSON file beside it.

    Args:
        path: of the exported file. classnames: C names, in the order of the logits. preprocess: of its images.
    """
    if not Path(path).name:
        raise OpenworldError(f"{str(path)!r} names no file; give the path of the exported model.")
    text = json.dumps({"classnames": list(classnames), "preprocess": asdict(preprocess)}, indent=1)
    write_file(description_of(path), text.encode())


def load(place: Path | str, architecture: str | None = None) -> Classifier:
    """Return the classifier of an exported file; class names and preprocessing stand beside it.

    "torch.export" must be said, as such a file may run code; None is ONNX. Raises OpenworldError for TorchScript.
    """
    path = Path(place)
    if path.suffix.lower() in PICKLES:
        raise OpenworldError(
            f"{path} is a pickle, which can run any code when it is loaded; export the model (torch.export.save to "
            ".pt2, or ONNX), or give its state dict: torch.save(model.state_dict(), 'mine.pth')."
        )
    if path.suffix.lower() in TORCHSCRIPT:
        raise OpenworldError(
            f"{path} is TorchScript, which is not read; export the model anew (torch.export.save to .pt2, or ONNX), or "
            "give its state dict: torch.save(torch.jit.load(FILE).state_dict(), 'mine.pth')."
        )
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}; give the path of an exported model.")
    kind = kind_of(path) or KINDS[path.suffix.lower()]
    if kind in MAY_RUN_CODE and architecture != kind:
        say = "--architecture {0} (in Python and in a spec, architecture = {0!r} beside it)"
        raise not_said(f"{path} may run code of its own when it is loaded", say, kind)
    if architecture not in (None, "", kind):
        raise OpenworldError(f"{path} came with the architecture {architecture!r}, expected {kind!r} or none.")
    classnames, preprocess = read_description(path)
    run, batch = _LOADERS[kind](path)
    module = ExportedModule(run, sha256_of(path), batch, len(classnames))
    return Classifier(module, classnames, preprocess, str(path))


class ExportedModule(nn.Module):
    # `run`: pixels float32[B, 3, side, side] -> logits float32[B, C]. `content`: hash of the file. `batch`: how many
    # images the file wants at a time; None for any number.
    def __init__(self, run: Run, content: str, batch: int | None, classes: int):
        super().__init__()
        self.run, self.content, self.batch, self.head = run, content, batch, _Through(classes)

    def forward(self, pixels: Tensor) -> Tensor:
        """Logits float32[B, C]; images are cut into the batches of the file, the last one filled up with zeros."""
        size, logits = self.batch or len(pixels), []
        try:
            for some in pixels.split(size) if len(pixels) != size else (pixels,):
                filled = some
                if len(some) < size:
                    filled = torch.cat([some, some.new_zeros(size - len(some), *some.shape[1:])])
                logits.append(self.run(filled.contiguous())[: len(some)])
            return self.head(torch.cat(logits))
        except OpenworldError:
            raise
        except Exception as error:  # whatever the runtime of the file raises
            reason = " ".join(str(error).split())[:300]
            raise OpenworldError(
                f"the exported model cannot look at {list(pixels.shape)} ({type(error).__name__}: {reason}); its JSON "
                "file must state the side that it was exported for."
            ) from error


class _Through(nn.Linear):
    """A head W h + b of unit matrix, whose features are the logits themselves: what detectors of logits watch."""

    def __init__(self, classes: int):
        super().__init__(classes, classes)
        with torch.no_grad():
            self.weight.copy_(torch.eye(classes))
            self.bias.zero_()

    def forward(self, input: Tensor) -> Tensor:
        return input


def require_description(place: Path | str) -> None:
    """Refuse a file without a JSON file beside it; the message shows one."""
    beside = description_of(place)
    if not beside.is_file():
        raise OpenworldError(f"{place} does not say its classes and preparation; write {beside}, such as {_EXAMPLE}.")


def read_description(path: Path) -> tuple[tuple[str, ...], Preprocess]:
    """Return class names and preprocessing of the JSON file beside a file."""
    require_description(path)
    beside = description_of(path)
    said = read_saved(beside, _Described, f"{beside} describes no classifier", f"expected such as {_EXAMPLE}.")
    return tuple(map(str, said.classnames)), said.preprocess


def _unreadable(path: Path, error: Exception) -> OpenworldError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return OpenworldError(f"{path} cannot be loaded as {kind_of(path)} ({reason}); export it again.")


def _of_torch_export(path: Path) -> tuple[Run, int | None]:
    try:
        program = torch.export.load(path)
        names = set(program.graph_signature.user_inputs)
        (inputs,) = [
            node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names
        ]
        batch = inputs.shape[0] if isinstance(inputs.shape[0], int) else None
    except Exception as error:  # a damaged archive may raise nearly anything
        raise _unreadable(path, error) from error
    modules = {"cpu": program.module()}

    def run(pixels: Tensor) -> Tensor:
        device = str(pixels.device)
        if device not in modules:
            from torch.export.passes import move_to_device_pass

            modules[device] = move_to_device_pass(torch.export.load(path), device).module()
        return modules[device](pixels)

    return run, batch


def _of_onnx(path: Path) -> tuple[Run, int | None]:
    library = import_library("onnxruntime", str(path), extra="onnx")
    options = library.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a classifier gives every core batches of its own
    options.log_severity_level = 3
    try:
        session = library.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        (inputs,) = session.get_inputs()
    except Exception as error:  # its errors are classes of its own, and differ with its version
        raise _unreadable(path, error) from error
    batch = inputs.shape[0] if isinstance(inputs.shape[0], int) else None

    def run(pixels: Tensor) -> Tensor:
        logits = session.run(None, {inputs.name: pixels.cpu().numpy()})[0]
        return torch.from_numpy(np.asarray(logits, np.float32))

    return run, batch


_LOADERS = {"torch.export": _of_torch_export, "onnx": _of_onnx}
