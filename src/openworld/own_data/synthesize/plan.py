"""Images made to order at measured shift: what `openworld synthesize` does before and around the painting.

Syn-IS (Long et al., 2024, section 2.3 and appendix D): labels x styles give prompts; the shift degrees of their text
features against reference images cut these into cells; equally many images are made from every cell. The paper's cuts
are unpublished; here they stand at the quantiles of its division of ImageNet-21K.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from openworld.core.arrays import MOST
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.core.types import Positive, Range, checked
from openworld.own_data.shift.images import ImageCollection, Reader
from openworld.own_data.shift.measurement import grid_of, require_neighbours
from openworld.runs import digest, readable_json
from openworld.runs.atomic import write_file
from openworld.runs.canonical import to_json
from openworld.shifts import HALVES, Decomposition, Levels, ShiftGrid, synthesis
from openworld.shifts.grid import axis_levels
from openworld.shifts.synthesis.generating import DIVISION, require_own
from openworld.tables.parquet import decode_table, encode_table

_TOGETHER = 4096  # prompts encoded at a time


@checked
@dataclass(frozen=True)
class SynthesisOptions:
    """What is to be made."""

    labels: tuple[str, ...]  # distinct
    styles: tuple[synthesis.PromptStyle, ...]
    each: Positive = 100  # images of every cell
    k: Positive = 10  # degrees are distances to this neighbour
    levels: Annotated[int, Range(3, MOST["levels"])] = 8  # of each axis, at least 3
    least: Positive = 10  # cells of fewer prompts are N/A
    seed: int = 0  # of the draw and of all noise

    @property
    def prompts(self) -> synthesis.Prompts:
        return synthesis.Prompts(self.labels, self.styles)

    def request(self, references: tuple[ImageCollection, ...], clip, split: Mapping[str, Any]) -> dict[str, Any]:
        """Return all that degrees and levels depend on, as JSON; `split` says which decomposition."""
        styles = [(style.name, style.prompt) for style in self.styles]
        return {
            "labels": {"count": len(self.labels), "sha256": digest(self.labels)},
            "styles": {"count": len(self.styles), "sha256": digest(styles)},
            "reference": {collection.name: collection.images.fingerprint for collection in references},
            "backbone": {"name": clip.name, "weights": clip.fingerprint},
            "decomposition": dict(split),
            "neighbour": self.k,
            "levels": self.levels,
        }


@dataclass(frozen=True, eq=False)
class PromptDivision:
    """N prompts by their degrees float64[N], by half."""

    degrees: dict[str, np.ndarray]
    cuts: dict[str, Levels]
    known: int  # reference images that there were
    # by half, share of held-out triplets in the right order; {} where nobody tried
    right: dict[str, float] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, Any]:
        """Return all but the degrees, as JSON knows it."""
        cuts = {half: list(self.cuts[half].cuts) for half in HALVES}
        return {"cuts": cuts, "reference_images": self.known, "held_out_right": self.right}

    def grid(self, least: int) -> ShiftGrid:
        return grid_of(self.degrees, self.cuts, least)


def require_readable(options: SynthesisOptions, clip) -> None:
    """Refuse, before any work, sentences that are too long for a backbone: the longest label's in every style."""
    longest = synthesis.Prompts((max(options.labels, key=len),), options.styles)
    _encoder(clip, len(longest), lambda *_: None)(longest.texts(0, len(longest)))


def divide(
    options: SynthesisOptions, references: tuple[ImageCollection, ...], decomposition: Decomposition, reader: Reader
) -> PromptDivision:
    """Measure all prompts against all reference images, and cut both axes."""
    blocks = tuple(features.embeddings for collection in references for _, features in reader.blocks(collection))
    count = sum(map(len, blocks))
    require_neighbours(references, count, options.k)
    prompts = options.prompts
    encode = _encoder(reader.clip, len(prompts), reader.progress)
    measured = synthesis.prompt_degrees(prompts, encode, decomposition, blocks, k=options.k, chunk=_TOGETHER)
    degrees = {half: getattr(measured, f"{half}_degree") for half in HALVES}
    cuts = axis_levels(degrees, options.levels, things="prompts")
    return PromptDivision(degrees, cuts, count, dict(decomposition.about.get("validation") or {}))


def plan(options: SynthesisOptions, division: PromptDivision, request: Mapping[str, Any]) -> synthesis.SynthesisPlan:
    """Return equally many images of every cell that has prompts enough; the plan says where its levels come from."""
    drawn = synthesis.plan_synthesis(options.prompts, division.grid(options.least), options.each, seed=options.seed)
    return replace(drawn, origin={**request, **division.about})


def _encoder(clip: Any, count: int, progress: Callable[[str, int, int], None]) -> Callable[[list[str]], np.ndarray]:
    """Return what encodes sentences, and tells how many of all are done."""
    done = 0

    @torch.no_grad()
    def encode(texts: list[str]) -> np.ndarray:
        nonlocal done
        try:
            features = clip.encode_text(texts).float().cpu().numpy()
        except OpenworldError as error:
            raise OpenworldError(f"{error} Or take another --backbone, or --styles of fewer words.") from error
        done += len(texts)
        progress("measuring prompts", done, count)
        return features

    return encode


LAID, TABLE, REQUEST = "laid.safetensors", "prompts.parquet", "request.json"


def keep_division(
    folder: Path,
    options: SynthesisOptions,
    request: Mapping[str, Any],
    division: PromptDivision,
    decomposition: Decomposition,
) -> None:
    labels, styles, grid = options.labels, options.styles, division.grid(options.least)
    columns: dict[str, Any] = {
        "label": [label for label in labels for _ in styles],
        "style": [style.name for style in styles] * len(labels),
    }
    columns |= {f"{half}_degree": division.degrees[half] for half in HALVES}
    columns |= {f"{half}_level": getattr(grid, half) for half in HALVES}  # counted from 0
    file = folder / DIVISION
    file.mkdir(parents=True, exist_ok=True)
    write_file(file / LAID, decomposition.to_bytes())
    write_file(file / TABLE, encode_table("prompts", columns))
    write_file(file / REQUEST, readable_json({**request, **division.about}))


def kept_division(folder: Path, request: Mapping[str, Any]) -> PromptDivision | None:
    """Return the division that a folder keeps, None where it keeps none; another request is refused."""
    require_own(folder)
    file = folder / DIVISION
    if not (file / REQUEST).is_file():
        return None
    try:
        kept = parse_json((file / REQUEST).read_bytes())
        changed = [part for part in request if kept.get(part) != to_json(request[part])]
        if changed:
            raise OpenworldError(f"{folder} was begun with other {' and '.join(changed)}; give these, or a new folder.")
        rows = decode_table((file / TABLE).read_bytes())
        degrees = {half: rows[f"{half}_degree"].astype(np.float64) for half in HALVES}
        cuts = {half: Levels(kept["cuts"][half]) for half in HALVES}
        return PromptDivision(degrees, cuts, kept["reference_images"], kept["held_out_right"])
    except OpenworldError:
        raise
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise OpenworldError(f"{file} cannot be read ({error!r}); remove {folder} and begin anew.") from error
