"""Encoded images on disk: how large they are, and taking them away: `openworld cache`."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from openworld.api.answers import TextReport
from openworld.core.errors import OpenworldError
from openworld.core.sizes import parse_size, size_in_words
from openworld.core.terminal import Head, TerminalTable, name
from openworld.core.types import checked

NOTHING = "Nothing was removed."


@checked
def cache(
    cache: Path | str | None = None,
    *,
    clear: bool = False,
    limit: str = "",
    dataset: str = "",
    backbone: str = "",
    yes: bool = False,
) -> TextReport:
    """List the encoded images that are kept on disk, how large they are, and remove them where you say so.

    Every image set is encoded once by each backbone and kept; to remove a set costs encoding it again, and nothing
    else. `--clear` removes all that is listed. `--limit 50GB` removes the sets that were used longest ago until no more
    than that is left: patch features and pixels before embeddings. Trained classifiers and their answers stay, and so
    does what another process is reading. A folder that holds anything but such sets is left alone.

    Weights of downloaded backbones lie elsewhere, where huggingface_hub keeps them (`hf cache` lists them).

    Args:
        cache: the folder; default: what `openworld doctor` says.
        clear: remove what is listed, after asking.
        limit: remove what was used longest ago, after asking, until so much is left, such as 50GB.
        dataset: only the sets of this data set.
        backbone: only the sets of this backbone.
        yes: do not ask.

    Returns:
        What is, or was, there.

    Raises:
        OpenworldError: a folder that holds anything else, or nobody who can be asked.
    """
    from openworld.backbones import known_name
    from openworld.features import default_cache
    from openworld.features.cache import look, remove, shrink

    report, model_name = look(Path(cache or default_cache())), known_name(backbone)
    chosen = [
        entry
        for entry in report.sets
        if dataset in ("", entry.dataset, entry.dataset.partition(" · ")[0]) and model_name in ("", entry.backbone)
    ]
    sets = [
        asdict(entry)
        | {"folder": entry.folder.name, "written": entry.written.isoformat(), "used": entry.used.isoformat()}
        for entry in chosen
    ]
    listed = TextReport(
        _listed(report, chosen), {"folder": str(report.folder), "sets": sets, "foreign": report.foreign}
    )
    if limit:
        most = parse_size(limit, "--limit")
        if dataset or backbone or clear:
            raise OpenworldError(
                "--limit chooses by itself what to remove; give it without --clear, --dataset, --backbone."
            )
        if report.foreign:
            raise OpenworldError(
                f"{report.folder} holds {report.foreign[0]!r}, which openworld did not put there; move it away."
            )
        more = f"sets used longest ago, {size_in_words(report.size - most)} or a little more"
        if report.size > most and not yes and not _agreed(listed, "--limit", more):
            return replace(listed, parts=(*listed.parts, NOTHING))
        removed = set(shrink(report.folder, most))
        gone, left = ([entry for entry in report.sets if (entry.folder in removed) == out] for out in (True, False))
        said = [f"Removed {len(gone)} set(s), {_total(gone)}; {_total(left)} are left."]
    elif clear and chosen:
        what = f"{len(chosen)} set(s), {_total(chosen)}"
        if not yes and not report.foreign and not _agreed(listed, "--clear", what):
            return replace(listed, parts=(NOTHING,))
        size = remove(report, chosen)
        left = [entry for entry in chosen if entry.folder.exists()]
        said = [f"Removed {len(chosen) - len(left)} set(s), {size_in_words(size)}."]
        said += [f"{len(left)} set(s) are being read and stay."] if left else []
    else:
        return listed
    return replace(listed, parts=(*listed.parts, *said))


def _total(sets: Sequence[Any]) -> str:
    return size_in_words(sum(entry.size for entry in sets))


def _agreed(listed: TextReport, option: str, what: str) -> bool:
    """Whether the person at the terminal agrees, who sees first what it is about."""
    from rich.prompt import Confirm

    from openworld.core.console import output

    if not sys.stdin.isatty():
        raise OpenworldError(f"{option} asks before it removes anything, and nobody can answer here; add --yes.")
    listed.show(output())
    return Confirm.ask(f"Remove {what}?", default=False)


def _listed(kept: Any, chosen: Sequence[Any]) -> tuple[Any, ...]:
    heads = (*map(name, ("data set", "backbone")), Head("images"), Head("size"), *map(name, ("with", "used", "folder")))
    rows = [
        (
            entry.dataset or "?",
            entry.backbone or "?",
            "not whole" if entry.images is None else f"{entry.images:,}",
            size_in_words(entry.size),
            entry.holds,
            f"{entry.used:%Y-%m-%d %H:%M}",
            entry.folder.name,
        )
        for entry in chosen
    ]
    table = [TerminalTable(heads, rows)] if chosen else []
    foreign = [f"Not ours, left alone: {', '.join(kept.foreign)}"] if kept.foreign else []
    return f"{kept.folder}: {len(chosen)} encoded image set(s), {_total(chosen)}", *table, *foreign
