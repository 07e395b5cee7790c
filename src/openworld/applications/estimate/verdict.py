"""An estimate in sentences: the number, what was lost, how far the methods agree, what would settle it."""

from collections import Counter
from collections.abc import Sequence
from math import ceil

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate
from openworld.applications.estimate.causes import episodes
from openworld.applications.estimate.results import LESS_BIAS, results_of
from openworld.estimators.quote import CLASS_SHARES, NO_SHIFT, Quote
from openworld.report.sentences import counted
from openworld.report.text import bracketed, percent, signed

AGREE, FAR = 0.03, 0.10  # spreads of the methods up to which they agree, and beyond which they do not
SETTLED = 0.05  # half width of the interval that labels would have to reach
Z = 1.96
DRAWN_BY = "`openworld label plan` draws them and shows them to you"
NAMED = 6  # chunks with an alarm that are named
CAUSED = 3  # episodes of a cause that are named


def sentences(estimate: AccuracyEstimate) -> list[str]:
    """Return everything that is to be said, the answer first."""
    parts = (headline, why, lost, labelled, agreement, classes_moved, truth)
    over = (over_time, causes, late_labels, alert, shift_alert)
    return [*filter(None, (part(estimate) for part in (*parts, *over, what_would_settle)))]


def headline(estimate: AccuracyEstimate) -> str:
    """Return the number and by which method it is; or that it cannot be told, and what bounds hold."""
    return answer(estimate.quote, f"on {estimate.target.name} ({counted(estimate.target.n, 'image')})")


def answer(quote: Quote, of: str) -> str:
    """Return what is quoted of a target or a period in one short sentence."""
    if quote.accuracy is None:
        between = f"between {percent(quote.low)} % and {percent(quote.high)} %"
        return f"The accuracy {of} cannot be told; it may lie {between}."
    return f"Estimated accuracy {of}: {_number(quote)}."


def why(estimate: AccuracyEstimate) -> str:
    """Return why that is quoted, or why nothing can be told."""
    return f"Why: {estimate.quote.why}."


def _number(quote: Quote) -> str:
    return f"{percent(quote.accuracy)} % {bracketed((quote.low, quote.high))}, by {quote.method}"


def _reason(quote: Quote) -> str:
    """Return a number with its interval, by which method, and why."""
    return f"{_number(quote)}: {quote.why}"


def lost(estimate: AccuracyEstimate) -> str:
    """Return the source beside it."""
    source, accuracy = estimate.source, estimate.quote.accuracy
    there = f"On the source it is {percent(source.accuracy)} % of {source.n:,} labelled images"
    return f"{there}." if accuracy is None else f"{there}: {signed(accuracy - source.accuracy)} points here."


def labelled(estimate: AccuracyEstimate) -> str:
    """Return what labelled shifts say, where that is not what is quoted."""
    learned = estimate.learned_quote
    if learned is None or learned.why == estimate.quote.why:
        return ""
    if learned.accuracy is None:
        return f"The labelled shifts are no help here: {learned.why}."
    if estimate.learned.artificial:
        return (
            f"Corrupted copies say {_reason(learned)}. They do not decide: of other kinds of shift they miss more than "
            "of corruptions."
        )
    return (
        f"Labelled shifts say {_reason(learned)}. The number stays, for no shift was found; its interval covers theirs."
    )


def agreement(estimate: AccuracyEstimate) -> str:
    """Return how far the methods lie apart, each less what it is off on sets like the source."""
    numbers = results_of(estimate).where(metric=LESS_BIAS.key)
    answers = sorted((row.value.value, row.entity) for row in numbers)
    if len(answers) < 2:
        return ""
    (low, lowest), (high, highest) = answers[0], answers[-1]
    apart = f"{100 * (high - low):.1f} points apart"
    apart = f"they agree ({apart})" if high - low <= AGREE else apart
    rely = ": rely on none without some labels" if estimate.quote.accuracy is None and high - low > FAR else ""
    return (
        f"Less what each is off on sets like the source, {len(answers)} methods say {percent(low)} % ({lowest}) to "
        f"{percent(high)} % ({highest}), {apart}{rely}."
    )


def classes_moved(estimate: AccuracyEstimate) -> str:
    """Return whether classes are predicted in other shares than on the source."""
    shift = estimate.shift
    if shift is None or not shift.clear:
        return ""
    return (
        f"The model predicts classes in other shares than on the source (total variation {shift.distance:.2f}; chance "
        f"makes {shift.chance:.2f})."
    )


def truth(estimate: AccuracyEstimate) -> str:
    """Return what labels of the target say, where it has some."""
    true, quote = estimate.target.accuracy, estimate.quote
    if true is None:
        return ""
    labels = f"The target has labels, which no method looked at: they say {percent(true)} %"
    if quote.accuracy is None:
        return f"{labels}, {'within' if quote.low <= true <= quote.high else 'outside'} the bounds."
    nearest = min(estimate.answers, key=lambda method: abs(method.accuracy - true))
    beside = "" if nearest.name == quote.method else f"; nearest is {nearest.name} ({signed(nearest.accuracy - true)})"
    return f"{labels}, so that {quote.method} is off by {signed(quote.accuracy - true)} points{beside}."


def over_time(estimate: AccuracyEstimate) -> str:
    """Return which chunks are lowest and highest, and which cannot be told."""
    if not estimate.chunks:
        return ""
    known = [chunk for chunk in estimate.chunks if chunk.quote.accuracy is not None]
    unknown = len(estimate.chunks) - len(known)
    if not known:
        return f"Of none of {unknown} chunks the accuracy can be told."
    low, high = (pick(known, key=lambda chunk: chunk.quote.accuracy) for pick in (min, max))
    return (
        f"Over {len(estimate.chunks)} chunks the accuracy runs from {percent(low.quote.accuracy)} % ({low.label}) to "
        f"{percent(high.quote.accuracy)} % ({high.label}){f'; of {unknown} it cannot be told' if unknown else ''}."
    )


def late_labels(estimate: AccuracyEstimate) -> str:
    """Return what labels that came late are, and what they do."""
    found = [one for one in (estimate.labelled, *(chunk.labelled for chunk in estimate.chunks)) if one is not None]
    if not found:
        return ""
    total, few = sum(one.n for one in found), [one.reason for one in found if one.accuracy is None]
    where = f" in {counted(len(found), 'chunk')}" if estimate.chunks else ""
    if not found[0].drawn:
        right = sum(one.plain * one.n for one in found) / total
        return (
            f"{total:,} labels{where} were not drawn at random (no column inclusion): of these images "
            f"{percent(right)} % are named right, which says nothing sure of the others; nothing rests on them."
        )
    sure = f"In {counted(len(found) - len(few), 'chunk')} they give" if estimate.chunks else "They give"
    parts = [f"{total:,} labels of images that were drawn{where}."]
    if len(few) < len(found):
        later = ", and they correct the estimates of later chunks" if estimate.chunks else ""
        parts.append(f"{sure} an interval that holds without any premise about the model{later}.")
    if few:
        of = f" of {counted(len(few), 'chunk')}" if estimate.chunks else ""
        parts.append(f"Those{of} are too few ({few[0]}).")
    return " ".join(parts)


def causes(estimate: AccuracyEstimate) -> str:
    """Return of what causes how many chunks are, the longest episodes of each by name, and what that rests on."""
    if not estimate.chunks or estimate.chunks[0].cause is None:
        return ""
    view = estimate.chunks[0].cause.likely.signs.view
    rests_on = "embeddings and logits" if view == "features" else "logits alone"
    found, labels = episodes([chunk.cause for chunk in estimate.chunks]), [chunk.label for chunk in estimate.chunks]
    if not found:
        return f"By {rests_on}, nothing is seen to have moved in any chunk."
    parts = []
    for cause, own in found.items():
        longest = sorted(sorted(own, key=lambda episode: -len(episode))[:CAUSED], key=lambda episode: episode.first)
        names = ", ".join(episode.name(labels) for episode in longest) + (", ..." if len(own) > CAUSED else "")
        parts.append(f"{cause} in {sum(map(len, own))} ({names})")
    return f"Likely cause of what moved, by {rests_on}: {'; '.join(parts)}."


def alert(estimate: AccuracyEstimate) -> str:
    """Return where an accuracy alarm stands, what raises one, and how often that is in vain."""
    if estimate.alert is None:
        return ""
    at, rate = f"{percent(estimate.alert)} %", f"{100 * estimate.false_alarms:.3g} %"
    verdict, alerts = f"No accuracy alarm at {at}", estimate.alerts
    if estimate.alarm is not None:
        verdict = f"Accuracy alarm: it is below {at}" if alerts else verdict
        needed = _less(estimate.alarm.alone)
        by_chance = f"by chance {rate} of targets that are {at} right get there"
    else:
        verdict = f"Accuracy alarm: below {at} in {_where(alerts)}" if alerts else verdict
        last = estimate.chunks[-1].alarm
        needed = f"many chunks at {_less(last.lasting)}, or one at {_less(last.alone)}"
        by_chance = f"by chance {rate} of years of 365 chunks that are all {at} right get there"
    beside = " The source itself is below the alert." if estimate.source.accuracy < estimate.alert else ""
    return f"{verdict}. It takes {needed}: {by_chance}.{beside}"


def shift_alert(estimate: AccuracyEstimate) -> str:
    """Return where a shift alarm stands, by which sign, and how often that is in vain."""
    alarms = [chunk.shift_alarm for chunk in estimate.chunks if chunk.shift_alarm is not None]
    if not alarms:
        return ""
    rate = f"by chance {100 * estimate.false_alarms:.3g} % of years of 365 chunks like the source get there"
    if not estimate.shift_alerts:
        return f"No shift alarm: no chunk, nor all of them together, is unlike the source ({rate})."
    ((sign, _),) = Counter(alarm.sign for alarm in alarms if alarm.standing).most_common(1)
    return (
        f"Shift alarm: the images are no longer like the source's in {_where(estimate.shift_alerts)}, most clearly by "
        f"{sign} ({rate})."
    )


def _where(alerts: Sequence[str]) -> str:
    """Return in how many chunks, and the first of them."""
    more = f" and {len(alerts) - NAMED} more" if len(alerts) > NAMED else ""
    return f"{counted(len(alerts), 'chunk')}, {', '.join(alerts[:NAMED])}{more}"


def _less(accuracy: float) -> str:
    """Return an accuracy that must be fallen short of."""
    return f"less than {percent(accuracy)} %" if accuracy > 0 else "less than can be"


def what_would_settle(estimate: AccuracyEstimate) -> str:
    """Return how many labels would tell the accuracy without any method."""
    accuracy = estimate.quote.accuracy
    if estimate.target.accuracy is not None:
        return ""
    if estimate.worksheet and accuracy is None:
        return (
            f"{counted(estimate.worksheet, 'label')} of images drawn at random would tell it to {100 * FAR:.0f} points "
            "either way: labels-to-make.csv lists them; fill in the column `label` and give the file back with "
            f"--labels (or {DRAWN_BY})."
        )
    share = 0.5 if accuracy is None else min(max(accuracy, 0.05), 0.95)
    wanted, some = (ceil(Z**2 * share * (1 - share) / half**2) for half in (SETTLED, FAR))
    if some >= estimate.target.n:
        return "So few images are best labelled, all of them."
    if accuracy is None:
        return (
            f"{some} labels of images drawn at random would tell it to {100 * FAR:.0f} points either way, {wanted} to "
            f"{100 * SETTLED:.0f}: {DRAWN_BY}."
        )
    return (
        f"{_interval(estimate)} {wanted} labels of images drawn at random would tell the accuracy to "
        f"{100 * SETTLED:.0f} points either way: {DRAWN_BY}."
    )


def _interval(estimate: AccuracyEstimate) -> str:
    """Return what the interval of the number holds, and what it does not."""
    signs, learned = estimate.quote.signs, estimate.learned_quote
    if estimate.labelled is not None and estimate.labelled.drawn:
        return "The interval is over the draw of the labels: it holds however wrong every method is."
    if learned is not None and learned.why == estimate.quote.why:
        return "The interval holds what happened on your labelled shifts, each family of them left out once."
    if signs is None:
        return "The interval tells how the estimate moves with other images of this kind, not how wrong the method is."
    if estimate.quote.rule == NO_SHIFT:
        return (
            "The interval reaches down to the fall that so many images would not show; what leaves all outputs of the "
            "model as they are on the source is never seen."
        )
    if estimate.quote.rule == CLASS_SHARES:
        return "The interval holds if other class shares are all that differs; labels would tell."
    return (
        "The interval holds what happened on labelled shifts of other models and kinds of data; yours may be another."
    )
