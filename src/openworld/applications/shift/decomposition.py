"""What splits features into meaning and appearance: a kept decomposition, or one fitted to names or to images."""

from collections.abc import Callable, Sequence
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.applications.shift.image_decomposition import PICTURES, TEACHERS, fit_by_pictures
from openworld.applications.shift.images import Gathered
from openworld.applications.shift.inputs import DecompositionSource
from openworld.applications.shift.text_decomposition import fit_laid, read_laid
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.shift import AppearanceEncoder, Decomposition, load_decomposition

Progress = Callable[[str, int, int], None]


def fit_or_read(
    source: DecompositionSource, clip, sets: Sequence[Gathered], seed: int, progress: Progress
) -> tuple[object, Decomposition]:
    """Return what images are encoded with, and its decomposition.

    Args:
        source: where the decomposition comes from. clip: a backbone. sets: the reference first. seed: of LAID.
        progress: called with what is being done, how much of it, and how much there is.
    """
    if source.taught_by not in TEACHERS:
        raise unknown_name("teacher of LAID", source.taught_by, TEACHERS)
    kept = source.laid and load_decomposition(source.laid).about.get("taught_by")
    if kept == PICTURES:
        clip = AppearanceEncoder(clip)
    elif source.laid is None and source.taught_by == PICTURES:
        clip = AppearanceEncoder(clip)
        return clip, fit_by_pictures(clip, sets[0], seed=seed, progress=progress)
    return clip, decomposition_for(source, clip, _names(source, sets), seed, progress)


def decomposition_for(
    source: DecompositionSource, clip, names: tuple[str, ...], seed: int, progress: Progress
) -> Decomposition:
    """Return the decomposition: read where one is kept, else fitted to the names."""
    if source.laid is not None:
        return read_laid(source.laid, clip)
    if not names:
        raise OpenworldError(
            "no picture lies in a class folder, so there are no class names for LAID to learn from: give a list with "
            "--classnames FILE, a name per line, or a fitted decomposition with --laid."
        )
    return fit_laid(clip, names, lines_of(source.templates), seed=seed, progress=progress)


def lines_of(file: Path | None) -> tuple[str, ...]:
    """Return the lines of a text file that hold anything; () without a file."""
    if file is None:
        return ()
    try:
        return tuple(line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise OpenworldError(f"{file} cannot be read ({error}); give a text file with a sentence per line.") from error


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that are read differently, each once."""
    return tuple({normalise_class_name(name): name for name in names}.values())


def _names(source: DecompositionSource, sets: Sequence[Gathered]) -> tuple[str, ...]:
    """Names that LAID learns from: those given, else those of all class folders."""
    if source.classnames is not None:
        return distinct_names(class_names(str(source.classnames)).names)
    return distinct_names([name for images in sets for name in images.classnames])
