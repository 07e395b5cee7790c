"""An estimate in sentences: the number, what was lost, how far the methods agree, what would settle it.

A watch says what alarms and late labels say in the same sentences, of its periods.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

from openworld.core.errors import present
from openworld.estimators.quote.decision import CLASS_SHARES, NO_SHIFT, Quote
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate, Period
from openworld.label_free.estimate.results import LESS_BIAS, results_of
from openworld.report.sentences import bracketed, counted, percent, signed

AGREE, FAR = 0.03, 0.10  # spreads of the methods up to which they agree, and beyond which they do not
SETTLED = 0.05  # half width of the interval that labels would have to reach
Z = 1.96
DRAWN_BY = "`openworld label plan` draws them and shows them to you"
NAMED = 6  # chunks with an alarm that are named
CAUSED = 3  # episodes of a cause that are named

OF_LABELS = "The interval is over the draw of the labels: it holds however wrong every method is."
OF_SHIFTS = "The interval holds what happened on your labelled shifts, each family of them left out once."
OF_SAMPLING = "The interval says how the estimate varies with other images of this kind, not how wrong the method is."
OF_RULES = {
    NO_SHIFT: "The interval reaches down to the fall that so many images would not show; what leaves all outputs of "
    "the model as they are on the source is never seen.",
    CLASS_SHARES: "The interval holds if other class shares are all that differs; labels would decide.",
}
"""Rule of a quote -> what its interval holds, and what it does not."""

OF_OTHERS = (
    "The interval holds what happened on labelled shifts of other models and kinds of data; yours may be another."
)


def sentences(estimate: AccuracyEstimate) -> list[str]:
    """Return everything that is to be said, the answer first."""
    said = [answer(estimate.quote, f"on {estimate.target.name} ({counted(estimate.target.n, 'image')})")]
    said += [f"Why: {estimate.quote.why}.", *_beside(estimate), *_of_labels(estimate), *_over_time(estimate)]
    parts = (causes, late_labels, alert, shift_alert, what_would_settle)
    return [*said, *filter(None, (part(estimate) for part in parts))]


def answer(quote: Quote, of: str) -> str:
    if quote.accuracy is None:
        between = f"between {percent(quote.low)} % and {percent(quote.high)} %"
        return f"The accuracy {of} cannot be estimated; it may lie {between}."
    return f"Estimated accuracy {of}: {_number(quote)}."


def _number(quote: Quote) -> str:
    if quote.low == quote.high:  # of a method that was named first, on a chunk: nothing is resampled
        return f"{percent(quote.accuracy)} % by {quote.method}, without an interval"
    return f"{percent(quote.accuracy)} % {bracketed((quote.low, quote.high))}, by {quote.method}"


def _beside(estimate: AccuracyEstimate) -> Iterator[str]:
    """Yield the source, what labelled shifts say, how far the methods agree, and whether classes moved."""
    source, quote, learned = estimate.source, estimate.quote, estimate.learned_quote
    there = f"On the source it is {percent(source.right)} % of {source.n:,} labelled images"
    yield f"{there}." if quote.accuracy is None else f"{there}: {signed(quote.accuracy - source.right)} points here."
    if learned is not None and learned.why != quote.why:  # else they are what is quoted
        said = "" if learned.accuracy is None else f"say {_number(learned)}: {learned.why}"
        if not said:
            yield f"The labelled shifts are no help here: {learned.why}."
        elif present(estimate.learned, "what labelled shifts say").artificial:
            yield f"Corrupted copies {said}. They do not decide: they miss other kinds of shift more often."
        else:
            yield f"Labelled shifts {said}. The number stays, for no shift was found; its interval covers theirs."
    numbers = results_of(estimate).where(metric=LESS_BIAS.key)
    answers = sorted((row.value.value, row.entity) for row in numbers if row.value.value is not None)
    if len(answers) > 1:
        (low, lowest), (high, highest) = answers[0], answers[-1]
        apart = f"{100 * (high - low):.1f} points apart"
        apart = f"they agree ({apart})" if high - low <= AGREE else apart
        rely = ": trust none of them without some labels" if quote.accuracy is None and high - low > FAR else ""
        yield (
            f"Corrected by their errors on samples of the source, {len(answers)} methods say {percent(low)} % "
            f"({lowest}) to {percent(high)} % ({highest}), {apart}{rely}."
        )
    if estimate.shift is not None and estimate.shift.clear:
        moved = f"total variation {estimate.shift.distance:.2f}; chance makes {estimate.shift.chance:.2f}"
        yield f"The model predicts classes in other shares than on the source ({moved})."


def _of_labels(estimate: AccuracyEstimate) -> Iterator[str]:
    """Yield what labels of the target say, where it has some."""
    true, quote = estimate.target.accuracy, estimate.quote
    if true is None:
        return
    labels = f"The target has labels, which no method looked at: they say {percent(true)} %"
    if quote.accuracy is None:
        yield f"{labels}, {'within' if quote.low <= true <= quote.high else 'outside'} the bounds."
        return
    off = {each.name: each.accuracy - true for each in estimate.answers if each.accuracy is not None}
    nearest = min(off, key=lambda name: abs(off[name]))
    beside = "" if nearest == quote.method else f"; nearest is {nearest} ({signed(off[nearest])})"
    yield f"{labels}, so that {quote.method} is off by {signed(quote.accuracy - true)} points{beside}."


def _over_time(estimate: AccuracyEstimate) -> Iterator[str]:
    """Yield which chunks are lowest and highest, and how many cannot be estimated."""
    pairs = sorted((chunk.quote.accuracy, chunk.label) for chunk in estimate.chunks if chunk.quote.accuracy is not None)
    every, unknown = len(estimate.chunks), len(estimate.chunks) - len(pairs)
    if pairs:
        (low, lowest), (high, highest) = pairs[0], pairs[-1]
        ends = f"from {percent(low)} % ({lowest}) to {percent(high)} % ({highest})"
        rest = f"; of {unknown} it cannot be estimated" if unknown else ""
        yield f"Over {every} chunks the accuracy runs {ends}{rest}."
    elif every:
        yield f"The accuracy can be estimated in none of {unknown} chunks."


def causes(estimate: AccuracyEstimate) -> str:
    """Return of what causes how many chunks are, the longest episodes of each by name, and what that rests on."""
    if not estimate.chunks or estimate.chunks[0].cause is None:
        return ""
    view = estimate.chunks[0].cause.likely.signs.view
    rests_on = "embeddings and logits" if view == "features" else "logits alone"
    by_cause = episodes(estimate.chunks)
    if not by_cause:
        return f"By {rests_on}, no change is seen in any chunk."
    parts = []
    for cause, episodes_of_cause in by_cause.items():
        longest = sorted(episodes_of_cause, key=lambda episode: -len(episode))[:CAUSED]
        names = [episode_name(estimate.chunks, episode) for episode in sorted(longest, key=lambda each: each.start)]
        names = ", ".join([*names, *["..."] * (len(episodes_of_cause) > CAUSED)])
        parts.append(f"{cause} in {counted(sum(map(len, episodes_of_cause)), 'chunk')} ({names})")
    return f"Likely cause of the change, by {rests_on}: {'; '.join(parts)}."


def late_labels(estimate: AccuracyEstimate, part: str = "chunk") -> str:
    """Return what labels that came late are, and what they do; `part` is what the target is cut into."""
    every = (estimate.labelled, *(chunk.labelled for chunk in estimate.chunks))
    there = [labels for labels in every if labels is not None]
    if not there:
        return ""
    total = sum(labels.n for labels in there)
    reasons = [labels.reason for labels in there if labels.accuracy is None]
    where = f" in {counted(len(there), part)}" if estimate.chunks else ""
    if not there[0].drawn:
        right = sum(labels.plain * labels.n for labels in there) / total
        return (
            f"{total:,} labels{where} were not drawn at random (no column inclusion): of these images "
            f"{percent(right)} % are named right, which says nothing sure of the others; nothing rests on them."
        )
    said = f"{total:,} labels of images that were drawn{where}."
    sure = len(there) - len(reasons)
    if sure and estimate.chunks:
        said += f" In {counted(sure, part)} they give an interval that holds without any premise about the model"
        said += f", and they correct the estimates of later {part}s."
    elif sure:
        said += " They give an interval that holds without any premise about the model."
    few = f" of {counted(len(reasons), part)}" if estimate.chunks else ""
    return f"{said} Those{few} are too few ({reasons[0]})." if reasons else said


def alert(estimate: AccuracyEstimate, part: str = "chunk") -> str:
    """Return where an accuracy alarm stands, what raises one, and how often that is in vain."""
    if estimate.alert is None:
        return ""
    at, rate = f"{percent(estimate.alert)} %", f"{100 * present(estimate.false_alarms, 'its rate'):.3g} %"
    verdict, alerts = f"No accuracy alarm at {at}", estimate.alerts
    if estimate.alarm is not None:
        verdict = f"Accuracy alarm: it is below {at}" if alerts else verdict
        raised = _below("by an accuracy", estimate.alarm.alone) or "by no accuracy that so few images can show"
        by_chance = f"for {rate} of targets that are {at} right"
    else:
        verdict = f"Accuracy alarm: below {at} in {_where(alerts, part)}" if alerts else verdict
        last = present(estimate.chunks[-1].alarm, "its alarm")
        ways = [_below(f"by one {part}", last.alone), _below(f"by many {part}s", last.lasting)]
        raised = " or ".join(filter(None, ways)) or f"by no {part}s of so few images"
        by_chance = f"in {rate} of years of 365 {part}s that are all {at} right"
    beside = " The source itself is below the alert." if estimate.source.right < estimate.alert else ""
    return f"{verdict}. It is raised {raised}, and by chance {by_chance}.{beside}"


def _below(what: str, accuracy: float) -> str:
    return f"{what} below {percent(accuracy)} %" if accuracy > 0 else ""


def shift_alert(estimate: AccuracyEstimate, part: str = "chunk") -> str:
    """Return where a shift alarm stands, by which sign, and how often that is in vain."""
    alarms = [chunk.shift_alarm for chunk in estimate.chunks if chunk.shift_alarm is not None]
    if not alarms:
        return ""
    rate = f"by chance in {100 * present(estimate.false_alarms, 'rate'):.3g} % of years of 365 {part}s like the source"
    if not estimate.shift_alerts:
        return f"No shift alarm: no {part}, nor all of them together, is unlike the source (one stands {rate})."
    ((sign, _),) = Counter(alarm.sign for alarm in alarms if alarm.standing).most_common(1)
    where = f"in {_where(estimate.shift_alerts, part)}, most clearly by {sign}"
    return f"Shift alarm: the images are no longer like the source's {where} ({rate})."


def _where(alerts: Sequence[str], part: str) -> str:
    more = f" and {len(alerts) - NAMED} more" if len(alerts) > NAMED else ""
    return f"{counted(len(alerts), part)}, {', '.join(alerts[:NAMED])}{more}"


def what_would_settle(estimate: AccuracyEstimate) -> str:
    """Return how many labels would measure the accuracy without any method, behind what the interval holds."""
    accuracy = estimate.quote.accuracy
    if estimate.target.accuracy is not None:
        return ""
    if estimate.worksheet and accuracy is None:
        return (
            f"{counted(estimate.worksheet, 'label')} of images drawn at random would give it to within {100 * FAR:.0f} "
            "points: labels-to-make.csv lists them; fill in the column `label` and give the file back with "
            f"--labels (or {DRAWN_BY})."
        )
    share = 0.5 if accuracy is None else min(max(accuracy, 0.05), 0.95)
    wanted, some = (ceil(Z**2 * share * (1 - share) / half**2) for half in (SETTLED, FAR))
    if some >= estimate.target.n:
        return "So few images are best labelled, all of them."
    points = f"{100 * SETTLED:.0f}"
    if accuracy is None:
        result = f"would give it to within {100 * FAR:.0f} points, {wanted} to within {points}: {DRAWN_BY}"
        return f"{some} labels of images drawn at random {result}."
    result = f"would give the accuracy to within {points} points: {DRAWN_BY}"
    return f"{_of_interval(estimate)} {wanted} labels of images drawn at random {result}."


def _of_interval(estimate: AccuracyEstimate) -> str:
    """Return what the interval of the number holds, and what it does not."""
    learned = estimate.learned_quote
    if estimate.labelled is not None and estimate.labelled.drawn:
        return OF_LABELS
    if learned is not None and learned.why == estimate.quote.why:
        return OF_SHIFTS
    return OF_SAMPLING if estimate.quote.signs is None else OF_RULES.get(estimate.quote.rule, OF_OTHERS)


def episodes(chunks: Sequence[Period]) -> dict[str, list[range]]:
    """Return, by cause, the places of chunks that follow each other and have it, in order of time.

    The causes of most chunks come first.
    """
    by_cause: dict[str, list[range]] = {}
    for place, chunk in enumerate(chunks):
        if text := chunk.moved.text:
            of_cause = by_cause.setdefault(text, [])
            goes_on = bool(of_cause) and of_cause[-1].stop == place
            of_cause.append(range(of_cause.pop().start if goes_on else place, place + 1))
    return dict(sorted(by_cause.items(), key=lambda item: -sum(map(len, item[1]))))


def episode_name(chunks: Sequence[Period], episode: range) -> str:
    first, last = chunks[episode[0]].label, chunks[episode[-1]].label
    return first if len(episode) == 1 else f"{first} to {last}"
