"""A judgement in sentences: the number, what was lost, how far the methods agree, what would settle it."""

from collections import Counter
from collections.abc import Sequence
from math import ceil

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, MethodEstimate
from openworld.estimators.quote import no_shift_seen
from openworld.report.text import bracketed, percent, signed

AGREE, FAR = 0.03, 0.10  # spreads of the methods up to which they agree, and beyond which they do not
HARDLY = 0.5  # share of the agreement on the source below which two models hardly agree
SETTLED = 0.05  # half width of the interval that labels would have to reach
Z = 1.96


def sentences(estimate: AccuracyEstimate) -> list[str]:
    """Everything that is to be said, the number first."""
    said = (lost, labelled, like_the_source, agreement, classes_moved, together, truth)
    then = (over_time, alert, what_would_settle)
    return [headline(estimate), *filter(None, (one(estimate) for one in (*said, *then)))]


def headline(estimate: AccuracyEstimate) -> str:
    """The number, by which method, and why that one; or that it cannot be told, why, and what bounds hold."""
    quote, target = estimate.quote, estimate.target
    of = f"{target.name} ({target.n:,} image{'s' * (target.n != 1)})"
    if quote.accuracy is None:
        between = f"between {percent(quote.low)} % and {percent(quote.high)} %"
        return f"The accuracy on {of} cannot be told; it may lie {between}: {quote.why}."
    number = f"{percent(quote.accuracy)} % {bracketed((quote.low, quote.high))}"
    return f"Estimated accuracy on {of}: {number}, by {quote.method}: {quote.why}."


def lost(estimate: AccuracyEstimate) -> str:
    """The source beside it."""
    source, quote = estimate.source, estimate.quote
    told = f"On the source it is {percent(source.accuracy)} % of {source.n:,} labelled images"
    return f"{told}." if quote.accuracy is None else f"{told}: {signed(quote.accuracy - source.accuracy)} points here."


def labelled(estimate: AccuracyEstimate) -> str:
    """What labelled shifts say, where that is not what is quoted."""
    found = estimate.learned_quote
    if found is None or found.why == estimate.quote.why:
        return ""
    if found.accuracy is None:
        return f"The labelled shifts are no help here: {found.why}."
    said = f"say {percent(found.accuracy)} % {bracketed((found.low, found.high))}, by {found.method}: {found.why}"
    if estimate.learned.artificial:
        return (
            f"Corrupted copies {said}. They do not decide: of other kinds of shift they miss more than of corruptions."
        )
    return f"Labelled shifts {said}. The number stays, since no shift is seen; its interval covers theirs."


def like_the_source(estimate: AccuracyEstimate) -> str:
    """What the quoted method says where nothing has shifted."""
    found = next((one for one in estimate.methods if one.name == estimate.quote.method), None)
    if found is None or found.on_source is None or found.accuracy is None:
        return ""
    mean, low, high = found.on_source
    return (
        f"Of as many images like the source {found.name} says {percent(low)} to {percent(high)} %, on average "
        f"{percent(mean)} %; of this target it says {percent(found.accuracy)} %."
    )


def agreement(estimate: AccuracyEstimate) -> str:
    """How far the methods lie apart, each less what it is off on sets like the source."""
    known = sorted((_unbiased(one, estimate), one.name) for one in estimate.methods if one.accuracy is not None)
    if len(known) < 2:
        return ""
    (low, lowest), (high, highest) = known[0], known[-1]
    rely = "" if estimate.quote.accuracy is not None else ": rely on none without some labels"
    apart = high - low
    verdict = f"they agree ({100 * apart:.1f} points apart)" if apart <= AGREE else f"{100 * apart:.1f} points apart"
    return (
        f"Less what each is off on sets like the source, {len(known)} methods say {percent(low)} % ({lowest}) to "
        f"{percent(high)} % ({highest}), {verdict}{_without_one(known, apart)}{rely if apart > FAR else ''}."
    )


def _unbiased(one: MethodEstimate, estimate: AccuracyEstimate) -> float:
    bias = 0.0 if one.on_source is None else one.on_source[0] - estimate.source.accuracy
    return min(1.0, max(0.0, one.accuracy - bias))


def classes_moved(estimate: AccuracyEstimate) -> str:
    """Whether classes are predicted in other shares than on the source, and what each reading of that would mean."""
    moved = estimate.shift
    if moved is None or not moved.clear:
        return ""
    told = (
        f"The model predicts classes in other shares than on the source (total variation {moved.distance:.2f}; chance "
        f"makes {moved.chance:.2f})"
    )
    known = {one.name: percent(one.accuracy) for one in estimate.methods if one.accuracy is not None}
    if not {"COTT", "ATC-MC"} <= known.keys():
        return f"{told}."
    return (
        f"{told}: if classes are as frequent here as there, COTT ({known['COTT']} %) sees what that costs and ATC-MC "
        f"({known['ATC-MC']} %) does not; if others really are frequent here, COTT, COT and ProjNorm are too low."
    )


def together(estimate: AccuracyEstimate) -> str:
    """How much less judged model and reference agree than on the source."""
    if estimate.agreement is None:
        return ""
    source, target = estimate.agreement
    told = f"Model and reference name {percent(target)} % of the images alike, on the source {percent(source)} %"
    if target >= HARDLY * source:
        return f"{told}."
    return f"{told}: at least one of the two fails here."


def truth(estimate: AccuracyEstimate) -> str:
    """What labels of the target say, where it has some."""
    true, quote = estimate.target.accuracy, estimate.quote
    if true is None:
        return ""
    told = f"The target has labels, which no method looked at: they say {percent(true)} %"
    if quote.accuracy is None:
        return f"{told}, {'within' if quote.low <= true <= quote.high else 'outside'} the bounds."
    known = [one for one in estimate.methods if one.accuracy is not None]
    nearest = min(known, key=lambda one: abs(one.accuracy - true))
    beside = "" if nearest.name == quote.method else f"; nearest is {nearest.name} ({signed(nearest.accuracy - true)})"
    return f"{told}, so that {quote.method} is off by {signed(quote.accuracy - true)} points{beside}."


def over_time(estimate: AccuracyEstimate) -> str:
    """Which chunks are lowest and highest, and which cannot be told."""
    if not estimate.chunks:
        return ""
    known = [one for one in estimate.chunks if one.quote.accuracy is not None]
    untold = len(estimate.chunks) - len(known)
    if not known:
        return f"Of none of {untold} chunks the accuracy can be told."
    low, high = (pick(known, key=lambda one: one.quote.accuracy) for pick in (min, max))
    told = (
        f"Over {len(estimate.chunks)} chunks the accuracy runs from {percent(low.quote.accuracy)} % ({low.label}) to "
        f"{percent(high.quote.accuracy)} % ({high.label})"
    )
    return told + (f"; of {untold} it cannot be told." if untold else ".") + _chunks_like_the_source(known)


def _chunks_like_the_source(known: Sequence[ChunkEstimate]) -> str:
    """What the method that is quoted most says of chunks where nothing has shifted."""
    found = [(one.quote.method, one) for one in known if one.on_source is not None]
    if not found:
        return ""
    (method, _), *_ = Counter(method for method, _ in found).most_common()
    chunks = [one for name, one in found if name == method]
    sizes = sorted({one.n for one in chunks})
    images = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    low, high = min(one.on_source[1] for one in chunks), max(one.on_source[2] for one in chunks)
    return f" Of chunks of {images} images like the source {method} says {percent(low)} to {percent(high)} %."


def alert(estimate: AccuracyEstimate) -> str:
    """Where an alarm stands, what raises one, and how often that is in vain."""
    if estimate.false_alarms is None:
        return ""
    at, rate = f"{percent(estimate.alert)} %", f"{100 * estimate.false_alarms:.3g} %"
    beside = " The source itself is below the alert." if estimate.source.accuracy < estimate.alert else ""
    if estimate.alarm is not None:
        told = f"Alert: the accuracy is below {at}" if estimate.alarm.standing else f"No alert at {at}"
        needed = _less(estimate.alarm.alone)
        return f"{told}. It takes {needed}: by chance {rate} of targets that are {at} right get there.{beside}"
    alerts, last = estimate.alerts, estimate.chunks[-1].alarm
    told = f"Alert: below {at} in {len(alerts)} chunks, {_listed(alerts)}" if alerts else f"No alert at {at}"
    needed = f"many chunks at {_less(last.lasting)}, or one at {_less(last.alone)}"
    by_chance = f"by chance {rate} of years of 365 chunks that are all {at} right get there"
    return f"{told}. It takes {needed}: {by_chance}.{beside}"


def _less(accuracy: float) -> str:
    """An accuracy that must be fallen short of."""
    return f"less than {percent(accuracy)} %" if accuracy > 0 else "less than can be"


def what_would_settle(estimate: AccuracyEstimate) -> str:
    """How many labels would tell the accuracy without any method."""
    accuracy = estimate.quote.accuracy
    if estimate.target.accuracy is not None:
        return ""
    share = 0.5 if accuracy is None else min(max(accuracy, 0.05), 0.95)
    wanted, some = (ceil(Z**2 * share * (1 - share) / half**2) for half in (SETTLED, FAR))
    if some >= estimate.target.n:
        return "So few images are best labelled, all of them."
    if accuracy is None:
        return (
            f"{some} labels of images drawn at random would tell it to {100 * FAR:.0f} points either way, {wanted} to "
            f"{100 * SETTLED:.0f}."
        )
    return (
        f"{_interval(estimate)} {wanted} labels of images drawn at random would tell the accuracy to "
        f"{100 * SETTLED:.0f} points either way."
    )


def _interval(estimate: AccuracyEstimate) -> str:
    """What the interval of the number holds, and what it does not."""
    signs, learned = estimate.quote.signs, estimate.learned_quote
    if learned is not None and learned.why == estimate.quote.why:
        return "The interval holds what happened on your labelled shifts, each family of them left out once."
    if signs is None:
        return "The interval tells how the estimate moves with other images of this kind, not how wrong the method is."
    if no_shift_seen(signs):
        return "The interval holds what chance makes of it; a shift that leaves the model as sure as ever is not seen."
    return "The interval holds what happened on labelled shifts of other models; yours may be of another kind."


def _without_one(known: Sequence[tuple[float, str]], apart: float) -> str:
    """The method without which the others lie less than half as far apart, if there is one."""
    if len(known) < 4:
        return ""
    for rest, (_, odd) in ((known[1:], known[0]), (known[:-1], known[-1])):
        if rest[-1][0] - rest[0][0] < apart / 2:
            return f" (without {odd} {percent(rest[0][0])} to {percent(rest[-1][0])} %)"
    return ""


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:6])
    return f"{shown} and {len(labels) - 6} more" if len(labels) > 6 else shown
