"""The likely cause of what moved in a period that a watch finishes, and images that carry it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openworld.applications.estimate.causes import cause_of
from openworld.applications.watch.fitted import Watch
from openworld.applications.watch.state import OpenPeriod, PeriodRecord
from openworld.estimators.quote.causes import fit_causes


def cause_part(watch: Watch, record: PeriodRecord, period: OpenPeriod) -> Mapping[str, Any]:
    """Return `cause` ("none seen", a cause, or those not told apart), `cause_why`, and `cause_images`.

    Images are what the file calls them, or their places among all images that were counted, from 0.
    """
    sample = period.span.sample
    both = sample.outputs.features is not None
    source = watch.outputs if both else replace(watch.outputs, features=None)
    reader = watch.outputs.once(("causes", both), lambda: fit_causes(source))
    found = cause_of(reader, sample.outputs, period.span.first + sample.rows)
    names = period.images
    images = [
        image.row if names is None else str(names[row])
        for image, row in zip(found.images, found.likely.rows, strict=True)
    ]
    return {"cause": found.text or found.likely.cause, "cause_why": found.likely.why, "cause_images": images}


def cause_sentence(record: PeriodRecord) -> str:
    """Return what a period's record says of the cause; "" where nothing was seen to have moved."""
    if not record.further.get("cause_why"):
        return ""
    some = ", ".join(map(str, record.further["cause_images"][:3]))
    return f"Likely cause of what moved: {record.further['cause']} ({record.further['cause_why']}); images: {some}."
