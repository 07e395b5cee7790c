"""A judgement in sentences: the number, what was lost, how far the methods agree, what would settle it."""

from collections.abc import Sequence
from math import ceil

from openworld.report.figures.figure import percent, signed
from openworld.report.judgement import Judgement, Method
from openworld.report.tables import bracketed

AGREE, FAR = 0.03, 0.10  # spreads of the methods up to which they agree, and beyond which none is to be relied on
HARDLY = 0.5  # share of the agreement on the source below which two models hardly agree
SETTLED = 0.05  # half width of the interval that labels would have to reach
Z = 1.96


def sentences(judged: Judgement) -> list[str]:
    """Everything that is to be said, the number first."""
    return [
        headline(judged),
        *filter(None, (one(judged) for one in (lost, agreement, classes_moved, together, truth, over_time))),
        *filter(None, [what_would_settle(judged)]),
    ]


def headline(judged: Judgement) -> str:
    """The number, by which method, and why that one."""
    quoted, target = judged.quoted, judged.target
    of = f"{target.name} ({target.n:,} image{'s' * (target.n != 1)})"
    if quoted is None:
        return f"The accuracy on {of} cannot be told: {judged.why}."
    told = f"Estimated accuracy on {of}: {percent(quoted.accuracy)} % {bracketed(quoted.interval)}".rstrip()
    return f"{told}, by {quoted.name}: {judged.why}."


def lost(judged: Judgement) -> str:
    """The source beside it."""
    source, quoted = judged.source, judged.quoted
    told = f"On the source it is {percent(source.accuracy)} % of {source.n:,} labelled images"
    if quoted is None:
        return f"{told}."
    change = quoted.accuracy - source.accuracy
    return f"{told}: {signed(change)} points here."


def agreement(judged: Judgement) -> str:
    """How far the methods lie apart, and what that means for the number."""
    known = [one for one in judged.methods if one.accuracy is not None]
    if len(known) < 2:
        return ""
    low, high = judged.spread
    apart = high.accuracy - low.accuracy
    verdict = _verdict(apart)
    told = (
        f"{len(known)} methods say {percent(low.accuracy)} % ({low.name}) to {percent(high.accuracy)} % ({high.name})"
    )
    return f"{told}: {verdict}{_without_one(known, apart)}."


def classes_moved(judged: Judgement) -> str:
    """Whether classes are predicted in other shares than on the source, and what each reading of that would mean."""
    moved = judged.shift
    if moved is None or not moved.clear:
        return ""
    told = (
        f"The model predicts classes in other shares than on the source (total variation {moved.distance:.2f}; chance "
        f"makes {moved.chance:.2f})"
    )
    known = {one.name: percent(one.accuracy) for one in judged.methods if one.accuracy is not None}
    if not {"COTT", "ATC-MC"} <= known.keys():
        return f"{told}."
    return (
        f"{told}: if classes are as frequent here as there, COTT ({known['COTT']} %) sees what that costs and ATC-MC "
        f"({known['ATC-MC']} %) does not; if others really are frequent here, COTT, COT and ProjNorm are too low."
    )


def together(judged: Judgement) -> str:
    """How much less judged model and reference agree than on the source."""
    if judged.agreement is None:
        return ""
    source, target = judged.agreement
    told = f"Model and reference name {percent(target)} % of the images alike, on the source {percent(source)} %"
    if target >= HARDLY * source:
        return f"{told}."
    return f"{told}: at least one of the two fails here, and FRAP, which rests on both, cannot tell which."


def truth(judged: Judgement) -> str:
    """What labels of the target say, where it has some."""
    true, quoted = judged.target.accuracy, judged.quoted
    if true is None or quoted is None:
        return ""
    nearest = min((one for one in judged.methods if one.accuracy is not None), key=lambda one: abs(one.accuracy - true))
    beside = "" if nearest is quoted else f"; nearest is {nearest.name} ({signed(nearest.accuracy - true)})"
    return (
        f"The target has labels, which no method looked at: they say {percent(true)} %, so that {quoted.name} is off "
        f"by {signed(quoted.accuracy - true)} points{beside}."
    )


def over_time(judged: Judgement) -> str:
    """Where the alert is met, and which stretches are lowest and highest."""
    alerts = judged.alerts
    if not judged.stretches:
        return f"Alert: that is below {percent(judged.alert)} %." if alerts else ""
    known = [one for one in judged.stretches if one.methods[judged.headline][0] is not None] if judged.headline else []
    if not known:
        return "Over time nothing can be told."
    low, high = (pick(known, key=lambda one: one.methods[judged.headline][0]) for pick in (min, max))
    told = (
        f"Over {len(judged.stretches)} chunks {judged.headline} runs from {percent(low.methods[judged.headline][0])} % "
        f"({low.label}) to {percent(high.methods[judged.headline][0])} % ({high.label})"
    )
    if judged.alert is None:
        return f"{told}."
    if not alerts:
        return f"{told}; none is below {percent(judged.alert)} %."
    return f"{told}. Alert: {len(alerts)} below {percent(judged.alert)} %, {_listed(alerts)}."


def what_would_settle(judged: Judgement) -> str:
    """How many labels would tell the accuracy without any method."""
    quoted = judged.quoted
    if quoted is None or judged.target.accuracy is not None:
        return ""
    share = min(max(quoted.accuracy, 0.05), 0.95)
    wanted = ceil(Z**2 * share * (1 - share) / SETTLED**2)
    if wanted >= judged.target.n:
        return "So few images are best labelled, all of them."
    return (
        "The interval tells how the estimate moves with other images of this kind, not how wrong a method may be under "
        f"this shift. {wanted} labels of images drawn at random would tell the accuracy to {100 * SETTLED:.0f} points "
        "either way."
    )


def _verdict(apart: float) -> str:
    told = f"{100 * apart:.1f} points apart"
    if apart <= AGREE:
        return f"they agree ({told})"
    if apart <= FAR:
        return f"they differ by some points ({told}), which is the least doubt to have"
    return f"they disagree ({told}), so rely on none without some labels"


def _without_one(known: Sequence[Method], apart: float) -> str:
    """The method without which the others lie less than half as far apart, if there is one."""
    if len(known) < 4:
        return ""
    accuracies = sorted(known, key=lambda one: one.accuracy)
    for rest, odd in ((accuracies[1:], accuracies[0]), (accuracies[:-1], accuracies[-1])):
        if rest[-1].accuracy - rest[0].accuracy < apart / 2:
            return f"; without {odd.name} {percent(rest[0].accuracy)} to {percent(rest[-1].accuracy)} %"
    return ""


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:6])
    return f"{shown} and {len(labels) - 6} more" if len(labels) > 6 else shown
