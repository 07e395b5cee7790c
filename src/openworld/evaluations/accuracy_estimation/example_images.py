"""What the conditions look like: an image or two of each, with how accurate the models are there.

The first record of a run keeps thumbnails by condition. Where all would weigh too much, fewer severities are shown.
"""

from collections.abc import Iterator, Sequence

from openworld.evaluations.accuracy_estimation.cards import TRUE_ACCURACY
from openworld.evaluations.accuracy_estimation.measurements import Measurements, mean_of
from openworld.evaluations.accuracy_estimation.record import THUMBNAILS, Condition
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.data_files import data_address
from openworld.report.layout import Brief
from openworld.results import RunFolder

BYTES = 250_000  # of the page's 1.5 MB


def albums(brief: Brief) -> tuple[Album, ...]:
    """Return one album with the lines of the table as its parts; none where no record keeps images."""
    measured = brief.source
    thumbnails = dict(_thumbnails(brief.run, measured))
    if not thumbnails:
        return ()
    severities = sorted({condition.severity for condition in thumbnails} - {None})
    for chosen in _choices(severities):
        visible = {
            condition: addresses
            for condition, addresses in thumbnails.items()
            if condition.severity is None or condition.severity in chosen
        }
        if sum(len(address) for addresses in visible.values() for address in addresses) <= BYTES:
            break
    severity = f"severity {' and '.join(map(str, chosen))}" if chosen else "none"
    fewer = f" Of corruptions {severity} is shown." if len(chosen) < len(severities) else ""
    text = f"An image or two of every condition, and the mean true accuracy of the classifiers there.{fewer}"
    parts = (AlbumPart(row, tuple(_images(measured, visible, row))) for row in measured.rows)
    return (Album("The conditions", text, tuple(part for part in parts if part.images)),)


def _thumbnails(run: RunFolder, measured: Measurements) -> Iterator[tuple[Condition, list[str]]]:
    """A condition and the addresses of its images, of the record that keeps some."""
    for stored, record in zip(run.records, measured.records, strict=True):
        names = [name for name in stored.attachments if name.startswith(f"{THUMBNAILS}/")]
        for number, condition in enumerate(record.conditions if names else ()):
            files = [stored.attachment(name) for name in names if name.split("/")[1] == str(number)]
            yield condition, [data_address("image/png", file) for file in files]
        if names:
            return


def _choices(severities: Sequence[int]) -> list[list[int]]:
    """Which severities may be shown, most first."""
    ends = sorted({severities[0], severities[len(severities) // 2], severities[-1]}) if severities else []
    return [list(severities), ends, list(severities[-1:]), []]


def _images(measured: Measurements, addresses_of: dict[Condition, list[str]], row: str) -> Iterator[AlbumImage]:
    for condition, addresses in addresses_of.items():
        if condition.row == row:
            accuracy = mean_of(measured.accuracy[:, measured.conditions.index(condition)])
            for address in addresses:
                yield AlbumImage(address, condition.name, f"{TRUE_ACCURACY.write(accuracy)}\u00a0% right")
