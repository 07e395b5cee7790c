"""One training step's loss of every prompt learner in plain form, on the full passes of `plain_towers`.

A plain form is what a straight reading of the paper and of the released code computes: all names through the whole text
tower, all images of the batch through the whole image tower, in every step. Frozen teachers' text features are computed
once per run, as the released codes do. Each takes (towers, learner, parameters, batch) and returns the loss terms.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from plain_towers import PlainTowers
from torch import Tensor
from torch.nn.functional import cross_entropy, linear, normalize, relu

from openworld.backbones.blocks import quick_gelu
from openworld.learners.engine.detector_prompts import divide_classes
from openworld.learners.gmop import mixture_loss


@dataclass(frozen=True)
class Batch:
    """What a step is given: C class names, B labels, pixels [B, 3, H, W], the learner's random draw, and the teacher's
    unit text features [C, D] (None for learners without one)."""

    names: tuple[str, ...]
    labels: Tensor
    pixels: Tensor
    draw: Tensor | None = None
    teacher: Tensor | None = None


def coop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Zhou et al. (2022)."""
    context = parameters["context"]
    text = towers.text(_sentences(towers, batch.names, len(context)), context)
    return {"total": cross_entropy(_logits(towers, towers.image(batch.pixels), text), batch.labels)}


def cocoop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Zhou et al. (2022): the names once for every image."""
    image = towers.image(batch.pixels)
    hidden = relu(_layer(parameters, "hidden", normalize(image, dim=-1)))
    contexts = parameters["context"] + _layer(parameters, "shift", hidden)[:, None]
    sentences = _sentences(towers, batch.names, contexts.shape[1])
    rows = [_logits(towers, one[None], towers.text(sentences, own)) for one, own in zip(image, contexts, strict=True)]
    return {"total": cross_entropy(torch.cat(rows), batch.labels)}


def kgcoop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Yao et al. (2023)."""
    context = parameters["context"]
    text = towers.text(_sentences(towers, batch.names, len(context)), context)
    entropy = cross_entropy(_logits(towers, towers.image(batch.pixels), text), batch.labels)
    return {"total": entropy + learner.weight * _guidance(text, batch.teacher)}


def prograd(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Zhu et al. (2023): student and zero-shot model each encode the images; two losses, each with its gradient."""
    towers.backwards = 2
    context = parameters["context"]
    text = towers.text(_sentences(towers, batch.names, len(context)), context)
    logits = _logits(towers, towers.image(batch.pixels), text)
    target = (_logits(towers, towers.image(batch.pixels), batch.teacher) / learner.temperature).softmax(dim=-1)
    entropies = -(target * (logits / learner.temperature).log_softmax(dim=-1)).sum(dim=-1)
    knowledge = learner.temperature**2 * entropies.mean()
    return {"cross_entropy": cross_entropy(logits, batch.labels), "knowledge": knowledge}


def proda(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Lu et al. (2022): a few contexts with all names, and every context without a name."""
    contexts, quarter = parameters["contexts"], learner.contexts // 4
    length, parts = contexts.shape[1], []
    for drawn in batch.draw.tolist():
        before = 0 if drawn < quarter else length // 2 if drawn < 2 * quarter else length
        sentences, places = _around(towers, batch.names, before, length - before)
        parts.append(normalize(towers.text(sentences, contexts[drawn], places=places), dim=-1))
    image, text = normalize(towers.image(batch.pixels), dim=-1), torch.stack(parts)
    scale, away = towers.clip.logit_scale, text - text.mean(dim=0)
    spread = (away[:, batch.labels][:, :, None] - away[:, None]).square().sum(dim=0) / (len(text) + 1)
    bound = scale * image @ text.mean(dim=0).mT + scale**2 / 2 * torch.einsum("bd,bcd->bc", image.square(), spread)
    nameless = _sentences(towers, ("",), length)
    alone = normalize(torch.cat([towers.text(nameless, context) for context in contexts]), dim=-1)
    pairs = ~torch.eye(len(alone), dtype=torch.bool, device=alone.device)
    return {"total": cross_entropy(bound, batch.labels) + learner.weight * (alone @ alone.mT)[pairs].abs().mean()}


def tcp(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Yao et al. (2024)."""
    context, block = parameters["context"], 2 * towers.clip.config.text.layers // 3
    tokens = _layer(parameters, "tokens", quick_gelu(_layer(parameters, "hidden", batch.teacher)))
    fixed, suffix = learner.behind.split("{}")
    sentences = _sentences(towers, batch.names, len(context), suffix, fixed)
    text = towers.text(sentences, context, per_class={block: tokens.unflatten(-1, context.shape)})
    entropy = cross_entropy(_logits(towers, towers.image(batch.pixels), text), batch.labels)
    return {"total": entropy + learner.weight * _guidance(text, batch.teacher)}


def dept(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Zhang et al. (2024) on KgCoOp."""
    context, share = parameters["context"], learner.head_share
    text, image = towers.text(_sentences(towers, batch.names, len(context)), context), towers.image(batch.pixels)
    entropy = cross_entropy(_logits(towers, image, text), batch.labels)
    of_text = parameters["text_scale"] * text[batch.labels] + parameters["text_shift"]
    of_image = parameters["image_scale"] * image + parameters["image_shift"]
    head = linear(torch.cat([of_text, of_image]), parameters["head_weight"], parameters["head_bias"])
    head_entropy = cross_entropy(head, torch.cat([batch.labels, batch.labels]))
    guidance = learner.weight * _guidance(text, batch.teacher)
    return {"total": (1 - share) * entropy + share * head_entropy + guidance}


def locoop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Miyai et al. (2023)."""
    context = parameters["context"]
    text = towers.text(_sentences(towers, batch.names, len(context)), context)
    image, patches = towers.patches(batch.pixels)
    local = _logits(towers, linear(patches, towers.clip.image.projection.weight.to(patches.dtype)), text)
    top = max(1, round(0.2 * len(batch.names)))
    background = (local.topk(top).indices != batch.labels[:, None, None]).all(dim=-1)
    probabilities = local.softmax(dim=-1)
    entropies = -(probabilities * (probabilities + 1e-5).log()).sum(dim=-1)[background]
    uncertain = entropies.mean() if len(entropies) else 0
    return {"total": cross_entropy(_logits(towers, image, text), batch.labels) - learner.weight * uncertain}


def gallop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Lafon et al. (2024): the names behind every global and every local context."""
    sentences = _sentences(towers, batch.names, parameters["global"].shape[1], suffix="")
    of_image, of_patches = (
        torch.stack([normalize(towers.text(sentences, context), dim=-1) for context in parameters[kind]])
        for kind in ("global", "local")
    )
    image, patches = towers.patches(batch.pixels)
    cosines = torch.einsum("bd,gcd->bgc", normalize(image, dim=-1), of_image)
    drawn = batch.draw[: len(cosines)].to(cosines.device)
    whole = torch.stack([own[kept].mean(dim=0) for own, kept in zip(cosines, drawn, strict=True)])
    joint = towers.clip.image.projection.weight.to(patches.dtype)
    local = normalize(linear(linear(patches, parameters["projection"]), joint), dim=-1)
    entropies = []
    for text, count in zip(of_patches, learner.top, strict=True):
        closest = (local @ text.mT).topk(min(count, local.shape[1]), dim=1).values.mean(dim=1)
        entropies.append(cross_entropy(towers.clip.logit_scale * closest, batch.labels))
    total = cross_entropy(towers.clip.logit_scale * whole, batch.labels) + torch.stack(entropies).mean()
    return {"total": total}


def gmop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Hua et al. (2025): the classifier's names, and each detector's own."""
    parts, context = learner.divide(len(batch.names)), parameters["classifier"]
    text, image = towers.text(_sentences(towers, batch.names, len(context)), context), towers.image(batch.pixels)
    base, zero_shot = _logits(towers, image, text), _logits(towers, image, batch.teacher)
    detectors = []
    for own, detector in zip(parts.names, parameters["detectors"], strict=True):
        sentences = _sentences(towers, [batch.names[index] for index in own], len(detector))
        detectors.append(_logits(towers, image, towers.text(sentences, detector)))
    columns = torch.as_tensor(parts.labels, device=batch.labels.device)
    return mixture_loss(base, zero_shot, torch.stack(detectors), batch.labels, columns, learner)


def vpt(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Jia et al. (2022)."""
    image = towers.image(batch.pixels, prompts=dict(enumerate(parameters["image"])))
    return {"total": cross_entropy(_logits(towers, image, batch.teacher), batch.labels)}


def ivlp(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Khattak et al. (2023)."""
    image = towers.image(batch.pixels, prompts=dict(enumerate(parameters["image"])))
    text = _deep_text(towers, learner, parameters["text"], batch)
    return {"total": cross_entropy(_logits(towers, image, text), batch.labels)}


def maple(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Khattak et al. (2023): the image prompts of a block are linear functions of its text prompts."""
    maps = zip(parameters["text"], parameters["maps_weight"], parameters["maps_bias"], strict=True)
    prompts = {block: linear(rows, weight, bias) for block, (rows, weight, bias) in enumerate(maps)}
    text = _deep_text(towers, learner, parameters["text"], batch)
    return {"total": cross_entropy(_logits(towers, towers.image(batch.pixels, prompts=prompts), text), batch.labels)}


def promptsrc(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Khattak et al. (2023b): the frozen image tower reads the batch, too."""
    image = towers.image(batch.pixels, prompts=dict(enumerate(parameters["image"])))
    text, frozen = _deep_text(towers, learner, parameters["text"], batch), towers.image(batch.pixels)
    of_text = (normalize(text, dim=-1) - batch.teacher).abs().mean()
    of_image = (normalize(image, dim=-1) - normalize(frozen, dim=-1)).abs().mean()
    logits, target = _logits(towers, image, text), _logits(towers, frozen, batch.teacher).log_softmax(dim=-1)
    apart = (target.exp() * (target - logits.log_softmax(dim=-1))).mean()
    held = learner.text_weight * of_text + learner.image_weight * of_image + apart
    return {"total": cross_entropy(logits, batch.labels) + held}


def rpo(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Lee et al. (2023): masked passes of all rows of both towers, with gradient."""
    sentences = towers.clip.tokenizer([learner.template.format(name) for name in batch.names])
    text = normalize(towers.read_only_text(sentences, parameters["text"]), dim=-1)
    image = normalize(towers.read_only_image(batch.pixels, parameters["image"]), dim=-1)
    logits = towers.clip.logit_scale * torch.einsum("bkd,ckd->kbc", image, text).mean(dim=0)
    return {"total": cross_entropy(logits, batch.labels)}


def decoop(towers: PlainTowers, learner, parameters: dict, batch: Batch) -> dict:
    """Zhou et al. (2024), first stage: each detector's own names."""
    parts, image, totals = divide_classes(len(batch.names), learner.detectors), towers.image(batch.pixels), []
    for own, columns, context in zip(parts.names, parts.labels, parameters["detectors"], strict=True):
        sentences = _sentences(towers, [batch.names[index] for index in own], len(context))
        logits = _logits(towers, image, towers.text(sentences, context))
        column = torch.as_tensor(columns, device=logits.device)[batch.labels]
        logs, base = logits.log_softmax(dim=-1), column >= 0
        entropy = -(logs.exp() * logs).sum(dim=-1)
        hinge = relu(learner.margin + entropy[base].mean() - entropy[~base].mean())
        totals.append(cross_entropy(logits[base], column[base]) + hinge)
    return {"total": torch.stack(totals).mean()}


PLAIN_FORMS: dict[str, Callable] = {
    "CoOp": coop,
    "KgCoOp": kgcoop,
    "GMoP": gmop,
    "CoCoOp": cocoop,
    "VPT": vpt,
    "MaPLe": maple,
    "IVLP": ivlp,
    "PromptSRC": promptsrc,
    "ProGrad": prograd,
    "RPO": rpo,
    "ProDA": proda,
    "TCP": tcp,
    "DePT": dept,
    "LoCoOp": locoop,
    "GalLoP": gallop,
    "DeCoOp": decoop,
}


def _sentences(towers: PlainTowers, names, length: int, suffix: str = ".", fixed: str = "") -> list[list[int]]:
    return towers.clip.tokenizer([f"{'X ' * length}{fixed} {name}{suffix}" for name in names])


def _around(towers: PlainTowers, names, before: int, after: int) -> tuple[list[list[int]], list[list[int]]]:
    """Sentences with rows of the context before and after the name, and where these rows are."""
    sentences, places = [], []
    for start, *name, stop, end in towers.clip.tokenizer([f"{name}." for name in names]):
        sentences.append([start, *[343] * before, *name, *[343] * after, stop, end])
        behind = 1 + before + len(name)
        places.append([*range(1, 1 + before), *range(behind, behind + after)])
    return sentences, places


def _deep_text(towers: PlainTowers, learner, prompts: Tensor, batch: Batch) -> Tensor:
    """The text tower with prompts [depth, N, W]; words of the phrase beyond N tokens stay fixed."""
    fixed = " ".join((learner.words or "").split()[prompts.shape[1] :])
    sentences = _sentences(towers, batch.names, prompts.shape[1], fixed=fixed)
    return towers.text(sentences, prompts[0], deep=dict(enumerate(prompts[1:], start=1)))


def _logits(towers: PlainTowers, image: Tensor, text: Tensor) -> Tensor:
    return towers.clip.logit_scale * normalize(image, dim=-1) @ normalize(text, dim=-1).mT


def _guidance(text: Tensor, teacher: Tensor) -> Tensor:
    return 1 - (normalize(text, dim=-1) * teacher).sum(dim=-1).mean()


def _layer(parameters: dict, name: str, rows: Tensor) -> Tensor:
    return linear(rows, parameters[f"{name}_weight"], parameters[f"{name}_bias"])
