"""What the reproduction of an accuracy-estimation benchmark will cost, in words."""

from openworld.cli._cost_words import about, duration, size, tables_in_words


def of_estimation(cost) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[str]]:
    """Heads, rows and sentences."""
    heads = ("run", "trainings", "judged", "conditions", "pictures", "about")
    rows = [
        (
            run.name,
            str(run.trainings),
            str(run.units),
            str(run.conditions),
            f"{run.pictures:,}",
            about(run),
            tables_in_words(run.tables),
        )
        for run in cost.runs
    ]
    return heads, rows, _lines(cost)


def _lines(cost) -> list[str]:
    trainings, pictures = (sum(getattr(run, name) for run in cost.runs) for name in ("trainings", "pictures"))
    lines = [
        f"In all {trainings} trainings, of which {cost.units:,} checkpoints are judged; {pictures:,} pictures, each "
        f"looked at by every checkpoint of its run and by the references; {size(cost.cache_bytes)} of disk for what "
        f"they say and {size(cost.record_bytes)} for the records. What is there already is not done again."
    ]
    if cost.seconds is not None:
        stages = {"training": "train_seconds", "looking": "look_seconds", "estimating": "unit_seconds"}
        spent = {word: sum(getattr(run, name) for run in cost.runs) for word, name in stages.items()}
        shares = ", ".join(f"{word} {100 * each / (sum(spent.values()) or 1):.0f} %" for word, each in spent.items())
        lines.append(
            f"About {duration(cost.seconds)} with {cost.workers} worker(s), if nothing else runs here: an estimate, "
            f"from a few steps and pictures of each model and straight lines. Of the time: {shares}."
        )
    if cost.guessed:
        lines.append(f"Not installed here, and taken for as slow as a network of ours: {', '.join(cost.guessed)}.")
    return lines
