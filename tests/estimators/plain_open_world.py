"""Estimators of open-world quality written out: loops over images and pairs, nothing shared with the package."""

from math import exp, log, sqrt


def softmax(row, temperature):
    top = max(row)
    raised = [exp((value - top) / temperature) for value in row]
    return [value / sum(raised) for value in raised]


def temperature(rows, labels):
    """The T of the least negative log-likelihood, by a search that narrows on log T."""

    def loss(log_t):
        return -sum(log(softmax(row, exp(log_t))[label]) for row, label in zip(rows, labels, strict=True))

    low, high = log(0.01), log(100)
    for _ in range(80):
        third = (high - low) / 3
        low, high = (low, high - third) if loss(low + third) < loss(high - third) else (low + third, high)
    return exp((low + high) / 2)


def threshold(rows, labels, t):
    confident = sorted(max(softmax(row, t)) for row in rows)
    wrong = sum(row.index(max(row)) != label for row, label in zip(rows, labels, strict=True))
    below = confident[wrong - 1] if wrong else -float("inf")
    return below if not wrong else (below + confident[wrong]) / 2


def em_share(masses, prior=0.5, steps=4_000):
    """Saerens et al., 2002: posteriors at the share, the share as their mean, over and over."""
    share = 0.5
    for _ in range(steps):
        moved = [share / prior * one / (share / prior * one + (1 - share) / (1 - prior) * (1 - one)) for one in masses]
        share = sum(moved) / len(moved)
    return share, moved


def beats(one, other):
    return 1.0 if one > other else 0.5 if one == other else 0.0


def open_world_numbers(scores, base_right, new_right, base):
    """theta, base and new accuracy, AUROC, share of new: sums over all pairs of different images."""
    pairs = [(i, j) for i in range(len(scores)) for j in range(len(scores)) if i != j]
    n_base, n_new = sum(base), sum(1 - one for one in base)
    theta = sum(base_right[i] * new_right[j] * beats(scores[i], scores[j]) for i, j in pairs) / (n_base * n_new)
    area = sum(base[i] * (1 - base[j]) * beats(scores[i], scores[j]) for i, j in pairs) / (n_base * n_new)
    return theta, sum(base_right) / n_base, sum(new_right) / n_new, area, n_new / len(base)


def best_bin(base_scores, scores, delta=0.1, gamma=0.01):
    error = sqrt(log(1 / delta) / 2 / len(scores)) + sqrt(log(1 / delta) / 2 / len(base_scores))
    best = None
    for cut in sorted({*base_scores, *scores}):
        of_base = sum(one >= cut for one in base_scores) / len(base_scores)
        of_stream = sum(one >= cut for one in scores) / len(scores)
        if of_base:
            bound = of_stream / of_base + (1 + gamma) / of_base * error
            best = min(best or (bound, 0), (bound, of_stream / of_base))
    return min(1.0, best[1])


def rising(values, weights):
    """Isotonic regression by its min-max formula."""

    def mean(first, last):
        part = range(first, last + 1)
        return sum(values[k] * weights[k] for k in part) / sum(weights[k] for k in part)

    size = range(len(values))
    return [max(min(mean(first, last) for last in size if last >= k) for first in size if first <= k) for k in size]


def base_by_score(base_scores, scores, share, edges):
    def place(score):
        return sum(score >= edge for edge in edges)

    bins = range(len(edges) + 1)
    of_stream = [sum(place(one) == k for one in scores) / len(scores) for k in bins]
    of_base = [sum(place(one) == k for one in base_scores) / len(base_scores) for k in bins]
    filled = [k for k in bins if of_stream[k] > 0]
    ratio = [min(1.0, share * of_base[k] / of_stream[k]) for k in filled]
    fitted = dict(zip(filled, rising(ratio, [of_stream[k] for k in filled]), strict=True))
    return [fitted[place(one)] for one in scores]


def positive_unlabelled(base_scores, right, base_new, scores, stream_new, share):
    """theta, new accuracy, AUROC by taking base images out of every mean over the stream."""

    def of_new(stream, base):
        return (stream - share * base) / (1 - share)

    n = len(base_scores)
    theta = area = 0.0
    for i in range(n):
        below = [beats(base_scores[i], one) for one in scores]
        among = [beats(base_scores[i], base_scores[k]) for k in range(n) if k != i]
        others = [base_new[k] for k in range(n) if k != i]
        named = of_new(
            sum(b * q for b, q in zip(below, stream_new, strict=True)) / len(scores),
            sum(b * q for b, q in zip(among, others, strict=True)) / (n - 1),
        )
        theta += right[i] * named / n
        area += of_new(sum(below) / len(scores), sum(among) / (n - 1)) / n
    return theta, of_new(sum(stream_new) / len(scores), sum(base_new) / n), area
