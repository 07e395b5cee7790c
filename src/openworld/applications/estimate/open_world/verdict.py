"""The open-world quality of a stream in sentences: each number with its premise, and what settles it."""

from openworld.applications.estimate.open_world.stream_quality import StreamQuality
from openworld.report.sentences import counted, listed
from openworld.report.text import percent, signed

PARTS = {"base_accuracy": "base accuracy", "new_accuracy": "new accuracy", "auroc": "AUROC"}
WHOSE = {"own": "learner", "reference": "reference"}
STEP = 0.1
"""By how much the share of new images is moved in the sentence about what hangs on it."""


def sentences(quality: StreamQuality) -> list[str]:
    """Return everything that is to be said, the number first."""
    parts = (headline, spread, of_parts, shares, if_the_share_were_another, made_up, truth, what_settles)
    return [*filter(None, (part(quality) for part in parts))]


def headline(quality: StreamQuality) -> str:
    """Return the number and its premise; or that it cannot be told, and why."""
    of, quote = f"{quality.target.name} ({counted(quality.target.images, 'image')})", quality.quote
    if quote is None:
        return f"The OpenworldAUC on {of} cannot be told: {quality.why}."
    given = "" if quality.new_share is None else f" and the share of new images is {percent(quality.new_share)} %"
    number = f"{percent(quote.openworld_auc)} %, by {quote.estimator}"
    return f"Estimated OpenworldAUC on {of}: {number}, if {quote.premise}{given}."


def spread(quality: StreamQuality) -> str:
    """Return how far the premises lie apart."""
    answers = sorted((own.openworld_auc, own.estimator) for own in quality.answers)
    if len(answers) < 2:
        return ""
    (low, lowest), (high, highest) = answers[0], answers[-1]
    apart = f"{100 * (high - low):.1f} points apart"
    return (
        f"{len(answers)} premises say {percent(low)} % ({lowest}) to {percent(high)} % ({highest}), {apart}. This "
        "spread is no interval: without labels nothing says which premise holds, and all may be wrong together."
    )


def of_parts(quality: StreamQuality) -> str:
    """Return the parts of what is told first; errors of parts may cancel."""
    quote = quality.quote
    if quote is None:
        return ""
    named = [
        f"{title} {percent(quote.numbers[part])} %" for part, title in PARTS.items() if quote.numbers[part] is not None
    ]
    return f"By {quote.estimator}: {listed(named)}. Errors of the parts can cancel in OpenworldAUC, so look at each."


def shares(quality: StreamQuality) -> str:
    """Return the share of new images by two ways, and whether they part."""
    ways = quality.shares
    known = {
        f"the probabilities of the {WHOSE[ways.probabilities_of]}": ways.probabilities,
        "the learner's scores beside those of the source": ways.scores,
    }
    said = listed([f"{percent(share)} % by {way}" for way, share in known.items() if share is not None])
    if not said:
        return ""
    moved = ways.confidence_moved
    if moved is not None:
        said += f"; the reference is {100 * abs(moved):.1f} points {'surer' if moved > 0 else 'less sure'} than there"
    if ways.alarm:
        return (
            f"Share of new images: {said}. That is an alarm: these images look other than the source, harder or "
            "easier, and no number above is to be trusted."
        )
    if ways.signs:
        return f"Share of new images: {said}. The two lie {100 * ways.gap:.0f} points apart: a reference is needed."
    return f"Share of new images: {said}; no alarm, which proves nothing."


def if_the_share_were_another(quality: StreamQuality) -> str:
    """Return what OpenworldAUC would be at other shares of new images."""
    quote = quality.quote
    line = next((line for line in quality.against_new_share if quote and line.estimator == quote.estimator), None)
    share = quote and quote.numbers.get("new_share")
    if line is None or share is None:
        return ""
    known = [(at, value) for at, value in zip(line.shares, line.openworld_auc, strict=True) if value is not None]
    around = (
        [min(known, key=lambda pair: abs(pair[0] - wanted)) for wanted in (share - STEP, share + STEP)] if known else []
    )
    if len(dict(around)) < 2:
        return ""
    (low, at_low), (high, at_high) = around
    return (
        f"If {percent(low)} % of the images were new instead, {quote.estimator} would say {percent(at_low)} %, and "
        f"{percent(at_high)} % if {percent(high)} % were; where the share is known, give it as --new-share."
    )


def made_up(quality: StreamQuality) -> str:
    """Return how far the estimator was off on streams made of base images."""
    rows = [row for row in quality.made_up if row.estimator == quality.quoted]
    errors = [row.mean_absolute["openworld_auc"] for row in rows if row.mean_absolute["openworld_auc"] is not None]
    if not errors:
        return ""
    return (
        f"On {sum(row.streams for row in rows)} streams made of the source, some of whose classes play new ones, "
        f"{quality.quoted} was off by {percent(min(errors))} to {percent(max(errors))} points on average. That bounds "
        "nothing here, either way: the learner was tuned on all of these classes, and another model was not."
    )


def truth(quality: StreamQuality) -> str:
    """Return what labels of the stream say, where it has some."""
    true, quote = quality.target.truth.get("openworld_auc"), quality.quote
    if true is None:
        return ""
    said = f"The stream has labels, which no estimator looked at: OpenworldAUC is {percent(true)} %"
    if quote is None:
        return f"{said}."
    off = [
        f"{title} {signed(quote.numbers[part] - quality.target.truth[part])}"
        for part, title in PARTS.items()
        if quote.numbers[part] is not None and quality.target.truth.get(part) is not None
    ]
    return (
        f"{said}, so that {quote.estimator} is off by {signed(quote.openworld_auc - true)} points ({', '.join(off)})."
    )


def what_settles(quality: StreamQuality) -> str:
    """Return what tells it for sure."""
    if quality.target.truth:
        return ""
    return (
        f"Labels settle it: `openworld label plan {quality.target.name}` says which images to label, and gives an "
        "interval that holds whatever is true of the learner."
    )


def premise_warnings(quality: StreamQuality) -> tuple[str, ...]:
    """Return what speaks against each estimator, a line each."""
    return tuple(f"{own.estimator}: {warning.rstrip('.')}." for own in quality.premises for warning in own.warnings)
