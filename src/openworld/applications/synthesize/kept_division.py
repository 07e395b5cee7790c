"""The division of prompts, kept beside the images: measured once, so that a set goes on by the plan it was begun.

FOLDER/division/ holds laid.safetensors, prompts.parquet (a row per prompt: label, style, degrees, levels) and, written
last, request.json: what was asked, and where levels begin.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld.applications.synthesize.plan import PromptDivision, SynthesisOptions
from openworld.runs import readable_json
from openworld.runs.atomic import write_file
from openworld.runs.canonical import to_json
from openworld.runs.tables import decode_table, encode_table
from openworld.shifts import HALVES, Decomposition, Levels
from openworld.shifts.synthesis.set_files import DIVISION, require_own

LAID, TABLE, REQUEST = "laid.safetensors", "prompts.parquet", "request.json"


def keep_division(
    folder: Path,
    options: SynthesisOptions,
    request: Mapping[str, Any],
    division: PromptDivision,
    decomposition: Decomposition,
) -> None:
    """Write a division; FOLDER is made where it is missing."""
    own = folder / DIVISION
    own.mkdir(parents=True, exist_ok=True)
    write_file(own / LAID, decomposition.to_bytes())
    write_file(own / TABLE, encode_table("prompts", _columns(options, division)))
    write_file(own / REQUEST, readable_json({**request, **division.about}))


def kept_division(folder: Path, request: Mapping[str, Any]) -> PromptDivision | None:
    """The division that a folder keeps; None where it keeps none.

    Raises:
        OpenworldError: a folder of something else, a division of another request, files that were changed.
    """
    require_own(folder)
    own = folder / DIVISION
    if not (own / REQUEST).is_file():
        return None
    try:
        kept = parse_json((own / REQUEST).read_bytes())
        changed = [part for part in request if kept.get(part) != to_json(request[part])]
        if changed:
            raise OpenworldError(
                f"{folder} was begun with other {' and '.join(changed)}; go on with the same, or give a new folder."
            )
        rows = decode_table((own / TABLE).read_bytes())
        degrees = {half: rows[f"{half}_degree"].astype(np.float64) for half in HALVES}
        cuts = {half: Levels(kept["cuts"][half]) for half in HALVES}
        return PromptDivision(degrees, cuts, kept["reference_pictures"], kept["held_out_right"])
    except OpenworldError:
        raise
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise OpenworldError(f"{own} cannot be read ({error!r}); remove {folder} and begin anew.") from error


def _columns(options: SynthesisOptions, division: PromptDivision) -> dict[str, Any]:
    """Prompts in words and numbers; a level is counted from 0."""
    labels, styles = len(options.labels), len(options.styles)
    grid = division.grid(options.least)
    columns: dict[str, Any] = {
        "label": [label for label in options.labels for _ in range(styles)],
        "style": [style.name for style in options.styles] * labels,
    }
    columns |= {f"{half}_degree": division.degrees[half] for half in HALVES}
    return columns | {f"{half}_level": getattr(grid, half) for half in HALVES}
