"""Every detector in the plain form that OpenOOD, pytorch-ood or its authors' code has, on what one pass gave.

Each function returns forms by the detector's name, `form(seen) -> scores`, `seen` an `Activations`. What they keep of
the training images is taken from the fitted detectors, and made ready in a form's first call, which no time is taken
of: precision matrices instead of whitened means, banks, principal axes. Loops are where those codes have them: over
classes (MDS, RMDS, MDSEnsemble), over images and classes (KLM, OpenMax), over images (WeiPer's histograms, AdaNeg's
memory). Forms of `plain_detectors` serve where they are there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import ceil

import numpy as np
import plain_detectors as plain
import torch
from torch import Tensor, nn
from torch.distributions import MultivariateNormal

from openworld.detectors import Activations, FittedDetector
from openworld.detectors.neglabel import name_groups

Forms = dict[str, Callable[[Activations], Tensor]]


@dataclass(frozen=True, eq=False)
class Kept:
    """What the plain forms keep: fitted detectors by name, the head, training features, logits and labels."""

    fitted: Mapping[str, FittedDetector]
    layer: nn.Linear
    bank: Tensor
    logits: Tensor
    labels: Tensor
    ready: dict = field(default_factory=dict)

    def energy(self, features: Tensor) -> Tensor:
        return self.layer(features).logsumexp(dim=1)

    def state(self, name: str):
        return self.fitted[name].state

    def once(self, name: str, make: Callable):
        """What is made of the state of a detector, once."""
        if name not in self.ready:
            self.ready[name] = make(self.state(name))
        return self.ready[name]

    def settings(self, name: str):
        return self.fitted[name].detector

    def means(self) -> Tensor:
        return torch.stack([self.bank[self.labels == label].mean(dim=0) for label in self.labels.unique()])


def of_logits(kept: Kept) -> Forms:
    def gen_form(seen):
        gen = kept.settings("GEN")
        p = np.sort(seen.outputs.softmax(dim=1).numpy(), axis=1)[:, -gen.largest :]
        return torch.from_numpy(-np.sum(p**gen.gamma * (1 - p) ** gen.gamma, axis=1))

    def klm(seen):
        typical = kept.once("KLM", lambda state: state.exp().double().numpy())
        rows = seen.outputs.double().softmax(dim=1).numpy()
        least = [min(np.sum(np.where(p != 0, p * np.log(p / q), 0)) for q in typical) for p in rows]
        return -torch.tensor(least)

    def entropy(seen):
        p = seen.outputs.softmax(dim=1)
        return (p * p.log()).sum(dim=1)

    def mean_softmax(seen):
        (logits,) = seen.sampled.values()
        return torch.stack([part.softmax(dim=1) for part in logits.unbind(1)]).mean(dim=0).amax(dim=1)

    return {
        "MSP": lambda seen: seen.outputs.softmax(dim=1).max(dim=1).values,
        "MaxLogit": lambda seen: seen.outputs.max(dim=1).values,
        "Energy": lambda seen: seen.outputs.logsumexp(dim=1),
        "GEN": gen_form,
        "TempScale": lambda seen: (seen.outputs / kept.state("TempScale")).softmax(dim=1).max(dim=1).values,
        "Entropy": entropy,
        "KLM": klm,
        "OpenMax": lambda seen: torch.tensor([_openmax(kept, row) for row in seen.outputs.double().numpy()]),
        "MCDropout": mean_softmax,
        "DeepEnsemble": mean_softmax,
    }


def _openmax(kept: Kept, logits: np.ndarray, shift: float = 10_000.0) -> float:
    """Over the classes, as OpenOOD does, all of whose weights but those of the largest logits are 0."""
    tails, alpha = kept.state("OpenMax"), kept.settings("OpenMax").alpha
    weights = np.zeros(len(logits))
    weights[logits.argsort()[::-1][:alpha]] = [(alpha - rank) / alpha for rank in range(alpha)]
    centres, least, shape, scale = (part.numpy() for part in (tails.centres, tails.smallest, tails.shape, tails.scale))
    changed, unknown = [], []
    for name, centre in enumerate(centres):
        far = max(0.0, np.linalg.norm(logits - centre) + shift - least[name])
        outside = 1 - np.exp(-((far / scale[name]) ** shape[name]))
        changed.append(logits[name] * (1 - outside * weights[name]))
        unknown.append(logits[name] - changed[-1])
    known, other = np.sum(np.exp(changed)), np.exp(np.sum(unknown))
    return float(np.log(known / (known + other)))


def of_features(kept: Kept) -> Forms:
    """What shapes features and runs the head again, and what compares them with a mean."""
    layer, energy = kept.layer, kept.energy

    def scale(seen):
        h, percent = seen.features, kept.settings("SCALE").percent
        total, left = h.sum(dim=1), h.shape[1] - round(h.shape[1] * percent / 100)
        values, places = h.topk(left, dim=1)
        pruned = torch.zeros_like(h).scatter_(1, places, values)
        return energy(h * (total / pruned.sum(dim=1)).exp()[:, None])

    def fdbd(seen):
        mean, distances = kept.once("fDBD", lambda state: (state[0], torch.where(state[1] > 0, 1 / state[1], 1.0)))
        values, names = seen.outputs.max(dim=1)
        gaps = (seen.outputs - values[:, None]).abs()
        return (gaps / distances[names]).sum(dim=1) / (seen.features - mean).norm(dim=1)

    def nci(seen):
        names, apart = seen.outputs.max(dim=1).indices, seen.features - kept.state("NCI")
        close = (layer.weight[names] * apart).sum(dim=1) / apart.norm(dim=1)
        return close + kept.settings("NCI").alpha * seen.features.norm(p=1, dim=1)

    def ras(seen):
        ranks = seen.features.argsort(dim=1).argsort(dim=1)
        return energy(kept.state("RAS").to(seen.features)[ranks])

    return {
        "GradNorm": torch.enable_grad()(lambda seen: plain.gradnorm(seen.features, layer)),
        "DICE": lambda seen: plain.dice(seen.features, kept.state("DICE").weight, layer.bias),
        "ASH": lambda seen: plain.ash(seen.features, layer, kept.settings("ASH").percent),
        "SCALE": scale,
        "ReAct": lambda seen: energy(seen.features.clip(max=float(kept.state("ReAct")))),
        "VRA": lambda seen: energy(seen.features.clip(*kept.state("VRA"))),
        "RAS": ras,
        "fDBD": fdbd,
        "NCI": nci,
        "SHE": lambda seen: (seen.features * kept.state("SHE")[seen.outputs.max(dim=1).indices]).sum(dim=1),
        "AdaSCALE": lambda seen: _adascale(kept, seen),
        "ODIN": lambda seen: _odin(kept, seen),
    }


def _odin(kept: Kept, seen: Activations) -> Tensor:
    (moved,) = seen.perturbed.values()
    return (kept.layer(moved).double() / kept.settings("ODIN").temperature).softmax(dim=1).amax(dim=1)


def _adascale(kept: Kept, seen: Activations) -> Tensor:
    own, (moved,), h = kept.settings("AdaSCALE"), seen.perturbed.values(), seen.features
    first, second = (int(h.shape[1] * percent / 100) for percent in (own.moved, own.shifted))
    largest = moved.relu().gather(1, h.topk(first, dim=1).indices).sum(dim=1)
    shifts = (h - moved).abs().gather(1, h.topk(second, dim=1).indices).sum(dim=1)
    known = kept.state("AdaSCALE").numpy()
    below = np.searchsorted(known, (largest + own.weight * shifts).numpy(), side="right") / len(known)
    scaled = []
    for row, percent in zip(h, own.low + (1 - below) * (own.high - own.low), strict=True):
        left = len(row) - round(len(row) * percent / 100)
        scaled.append(row * (row.sum() / row.topk(left).values.sum()).exp())
    return kept.energy(torch.stack(scaled))


def of_training(kept: Kept) -> Forms:
    """What compares features with training images, or with how they are spread."""

    def mds(seen):
        return plain.mds(seen.features, *kept.once("MDS", lambda state: (kept.means(), _precision(state))))

    def rmds(seen):
        def make(state):
            return kept.means(), *map(_precision, state), kept.bank.mean(dim=0)

        means, own, whole, mean = kept.once("RMDS", make)
        apart = seen.features - mean
        background = (apart @ whole @ apart.T).diag()
        return plain.mds(seen.features, means, own) + background

    def relation(seen):
        settings, scores = kept.settings("Relation"), []
        unit_bank, probabilities = kept.state("Relation")
        unit, p = nn.functional.normalize(seen.features, dim=1), seen.outputs.softmax(dim=1)
        for rows, own_p in zip(unit.split(50), p.split(50), strict=True):
            half = ceil(len(unit_bank) / 2)
            parts = zip(unit_bank.split(half), probabilities.split(half), strict=True)
            relations = torch.cat([(rows @ b.T).clamp(min=0) * (own_p @ q.T) for b, q in parts], dim=1)
            masked = (relations.abs() > settings.threshold) * relations
            scores.append((masked.sign() * masked.abs() ** settings.power).sum(dim=1))
        return torch.cat(scores)

    def left_over(rows, state):
        rows = rows - state.mean
        return -(rows - rows @ state.basis @ state.basis.T).norm(dim=1)

    def residual(seen, name):
        state = kept.state(name)
        return ((seen.features - state.origin.float()) @ state.basis.float()).norm(dim=1)

    def gmm(seen):
        normal, logs = kept.once("GMM", _normals)
        return (normal.log_prob(seen.features[:, None]) + logs).logsumexp(dim=1)

    return {
        "MDS": mds,
        "RMDS": rmds,
        "KNN": lambda seen: plain.knn(seen.features, kept.state("KNN") + 1e-10, kept.settings("KNN").k),
        "NNGuide": lambda seen: _nnguide(kept, seen),
        "Relation": relation,
        "GMM": gmm,
        "ViM": lambda seen: seen.outputs.logsumexp(dim=1) - kept.state("ViM").weight * residual(seen, "ViM"),
        "Residual": lambda seen: -residual(seen, "Residual"),
        "CoP": lambda seen: left_over(nn.functional.normalize(seen.features, dim=1), kept.state("CoP")),
        "CoRP": lambda seen: left_over(kept.state("CoRP").lift(seen.features), kept.state("CoRP")),
        "WeiPer": lambda seen: _weiper(kept, seen),
    }


def _precision(gaussian) -> Tensor:
    return gaussian.whitening @ gaussian.whitening.T


def _normals(state) -> tuple[MultivariateNormal, Tensor]:
    """A normal of each class, as pytorch has it, and ln of its share of the images."""
    whitenings = state.whitenings.double().expand(len(state.means), -1, -1)
    factors = torch.linalg.inv(whitenings).float()
    logs = state.constants.double() + state.means.shape[1] * np.log(2 * np.pi) / 2 - torch.logdet(whitenings)
    return MultivariateNormal(state.means, scale_tril=factors, validate_args=False), logs.float()


def _nnguide(kept: Kept, seen: Activations) -> Tensor:
    """The index is built with every batch, as OpenOOD does, where faiss is there."""
    k, bank = kept.settings("NNGuide").k, kept.state("NNGuide")
    unit = nn.functional.normalize(seen.features, dim=1)
    if find_spec("faiss"):
        import faiss

        index = faiss.IndexFlatIP(bank.shape[1])
        index.add(bank.numpy())
        nearest = torch.from_numpy(index.search(unit.numpy(), k)[0])
    else:
        nearest = (unit @ bank.T).topk(k, dim=1).values
    return nearest.mean(dim=1) * seen.outputs.logsumexp(dim=1)


def _weiper(kept: Kept, seen: Activations) -> Tensor:
    own, state = kept.settings("WeiPer"), kept.state("WeiPer")
    logits = seen.features @ state.weight.T + kept.layer.bias.repeat(own.repeats)
    sure = logits.unflatten(1, (own.repeats, -1)).softmax(dim=2).amax(dim=2).mean(dim=1)

    def apart(rows, known, window, floor):
        p, found = known.mean + floor, []
        for row in rows:
            q = torch.histc(row, own.bins, known.low, known.high) / len(row)
            padded = nn.functional.pad(q[None, None], ((window - 1) // 2, window // 2), mode="replicate")
            q = nn.functional.avg_pool1d(padded, window, 1)[0, 0] + floor
            p, q = p / p.sum(), q / q.sum()
            found.append((p * (p / q).log()).sum() + (q * (q / p).log()).sum())
        return torch.stack(found)

    of_features = apart(seen.features, state.features, own.feature_window, 0.01)
    of_logits = apart(logits, state.logits, own.logit_window, 0.025)
    return own.confidence_share * sure - of_features - own.logit_share * of_logits


def of_maps(kept: Kept) -> Forms:
    def rankfeat(seen):
        late = plain.without_largest(seen.maps.late).mean(dim=(2, 3))
        early = seen.maps.last_stage(plain.without_largest(seen.maps.early)).mean(dim=(2, 3))
        return ((kept.layer(late) + kept.layer(early)) / 2).logsumexp(dim=1)

    def ensemble(seen):
        names, states = kept.once("MDSEnsemble", _gaussians)
        return sum(plain.mds(seen.layers[name].maps.mean(dim=(2, 3)), *states[name]) for name in names)

    return {
        "RankFeat": rankfeat,
        "MDSEnsemble": ensemble,
        "Gram": lambda seen: _gram(kept, seen),
        "NAC": lambda seen: _nac(kept, seen),
    }


def _gaussians(state) -> tuple[tuple[str, ...], dict[str, tuple[Tensor, Tensor]]]:
    """Class means as they were before they were whitened, and the precision, of each layer."""
    plainly = [(g.means @ torch.linalg.pinv(g.whitening) + g.centre, _precision(g)) for g in state.gaussians]
    return state.names, dict(zip(state.names, plainly, strict=True))


def _gram(kept: Kept, seen: Activations) -> Tensor:
    """The Gram matrices are made, in float64 as ours are: high powers leave float32."""
    ranges, names = kept.state("Gram"), seen.outputs.argmax(dim=1)
    total = torch.zeros(len(names), dtype=torch.float64)
    for name, known in zip(ranges.names, ranges.ranges, strict=True):
        maps, rows = seen.layers[name].maps.flatten(2).double(), []
        for power in kept.settings("Gram").powers:
            raised = maps**power
            sums = (raised @ raised.mT).sum(dim=2)
            rows.append(sums.sign() * sums.abs() ** (1 / power))
        rows = torch.cat(rows, dim=1)
        for label in names.unique():
            low, high = known.low[label].double(), known.high[label].double()
            own = rows[names == label]
            below, above = (low - own).relu() / (low + 1e-6).abs(), (own - high).relu() / (high + 1e-6).abs()
            total[names == label] -= (below + above).sum(dim=1) / known.expected
    return total


def _nac(kept: Kept, seen: Activations) -> Tensor:
    own, known = kept.settings("NAC"), kept.state("NAC")
    scores = []
    for name, shares in zip(known.names, known.shares, strict=True):
        layer = seen.layers[name]
        states = layer.maps.mean(dim=(2, 3)) * layer.gradient.sum(dim=(2, 3))
        edges = torch.linspace(0, 1, own.bins + 1)
        bins = torch.bucketize((own.steepness * states).sigmoid(), edges[1:-1], right=True)
        scores.append(torch.stack([shares[neuron, bins[:, neuron]] for neuron in range(len(shares))]).mean(dim=0))
    return torch.stack(scores).mean(dim=0)


def of_names(kept: Kept) -> Forms:
    """Of two-tower models: unit embeddings times texts, as the authors' scripts have them."""

    def confidence(rows, texts, temperature):
        return (nn.functional.normalize(rows, dim=-1) @ texts.T / temperature).softmax(dim=-1)

    def local(seen, name):
        settings = kept.settings(name)
        return confidence(seen.patches, seen.texts.own, settings.temperature).flatten(1).max(dim=1).values

    def mcm(seen, name="MCM"):
        return confidence(seen.features, seen.texts.own, kept.settings(name).temperature).max(dim=1).values

    def grouped(name, pool):
        def form(seen):
            own, negative = kept.settings(name), pool(seen.texts)
            rows = nn.functional.normalize(seen.features, dim=1)
            logits = rows @ torch.cat([seen.texts.own, negative]).T / own.temperature
            return _share(logits, len(seen.texts.own), name_groups(negative, own.groups, own.seed, who="", lacking=""))

        return form

    return {
        "MCM": mcm,
        "L-MCM": lambda seen: local(seen, "L-MCM"),
        "GL-MCM": lambda seen: mcm(seen, "GL-MCM") + kept.settings("GL-MCM").weight * local(seen, "GL-MCM"),
        "NegLabel": grouped("NegLabel", lambda texts: texts.negative),
        "CSP": grouped("CSP", lambda texts: texts.conjugated),
        "AdaNeg": lambda seen: _adaneg(kept.settings("AdaNeg"), seen),
    }


def _share(logits: Tensor, classes: int, groups: Tensor) -> Tensor:
    """A softmax over the classes and each group of negative names, one after the other."""
    own, negative = logits[:, :classes], logits[:, classes:]
    parts = [torch.cat([own, negative[:, group]], dim=1).softmax(dim=1)[:, :classes].sum(dim=1) for group in groups]
    return torch.stack(parts).mean(dim=0)


def _adaneg(own, seen: Activations) -> Tensor:
    """Every proxy of every image is made, whether its name remembers an image or not."""
    classes, rows = len(seen.texts.own), nn.functional.normalize(seen.features, dim=1)
    texts = torch.cat([seen.texts.own, seen.texts.negative])
    groups = name_groups(seen.texts.negative, own.groups, own.seed, who="", lacking="")
    memory = torch.cat([texts[:, None], texts.new_zeros(len(texts), own.length - 1, texts.shape[1])], dim=1)
    entropies, filled, scores = torch.zeros(memory.shape[:2]), [1] * len(texts), []
    for batch in rows.split(own.batch):
        logits = batch @ texts.T / own.temperature
        known = _share(logits, classes, groups)
        for image, row, score in zip(batch, logits, known, strict=True):
            if score > own.threshold + own.gap * (1 - own.threshold):
                part, first = row[:classes], 0
            elif score < own.threshold - own.gap * own.threshold:
                part, first = row[classes:], classes
            else:
                continue
            p, name = part.softmax(dim=0), first + int(part.argmax())
            entropy, slot = -(p * p.log()).nan_to_num().sum(), filled[name]
            if slot == own.length:
                slot = int(entropies[name].argmax())
                if entropy >= entropies[name, slot]:
                    continue
            else:
                filled[name] += 1
            memory[name, slot], entropies[name, slot] = image, entropy
        there = torch.arange(own.length) < torch.tensor(filled)[:, None]
        for image, score in zip(batch, known, strict=True):
            weights = (-own.sharpness * (1 - memory @ image)).exp() * there
            proxies = nn.functional.normalize((weights[:, None] @ memory)[:, 0], dim=1)
            adapted = _share((proxies @ image / own.temperature)[None], classes, groups)[0]
            scores.append(adapted + own.weight * score)
    return torch.stack(scores)


def forms(kept: Kept) -> Forms:
    """All of them by the detector's name."""
    return of_logits(kept) | of_features(kept) | of_training(kept) | of_maps(kept) | of_names(kept)
