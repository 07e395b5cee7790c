"""A model and images: a spec of the OOD benchmark of what somebody named, run where it is kept, and what it says.

A run that was ended goes on when it is started again with the same words: units and shards that are done stand.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld.core.errors import OpenworldError
from openworld.core.progress import Observer
from openworld.datasets import ImageSet
from openworld.evaluations.entries import PoolSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.own_data import hold, is_held, release
from openworld.evaluations.running import RunOptions, carry_out
from openworld.ood.benchmark.report import ranked, results_of, units_of
from openworld.ood.benchmark.spec import OODBenchmarkSpec, OODSetSpec
from openworld.ood.detect.choosing import GivenModel, choose_detectors
from openworld.ood.detect.on_scores import PAGES, compared
from openworld.ood.detect.places import (
    PARTS,
    KnownImages,
    NamedSet,
    benchmark_of,
    image_names,
    known_images,
    named_sets,
    validation_sets,
)
from openworld.ood.model_entries import JudgedSpec
from openworld.ood.models import JudgedModel
from openworld.ood.scored_sets import ScoredSets, SetScores
from openworld.ood.thresholds import FITTED, LEARNER, choose_thresholds, require_enough, write_saved
from openworld.ood.tower_model import TowerModel
from openworld.report.report import Report
from openworld.results import Results, RunFolder
from openworld.runs import RunStore, to_json
from openworld.runs.atomic import remove, write_file
from openworld.runs.outputs import DETECTED, RUN, require_folder
from openworld.runs.scratch import ScratchFolder
from openworld.tables.embeddings import holds_embeddings

CACHE = ".cache"
"""Folder of encoded images and shards, until all is done."""


def held_spec(
    named: GivenModel,
    model: JudgedModel,
    known: KnownImages,
    others: Sequence[NamedSet],
    strange: Sequence[NamedSet],
    *,
    detector: Sequence[str],
    notes: Sequence[str],
    **settings: Any,
) -> OODBenchmarkSpec:
    """Return the spec of a comparison; its images and its model are held by this process.

    Args:
        others: tested beside the in-distribution images. strange: images on which settings are searched.
        detector: words that name detectors. notes: sentences on what lacks.
    """
    entries, left_out = choose_detectors(detector, model, known, search=bool(strange))
    test = known["test"]
    parts = {"train": test.subset(np.zeros(0, np.int64)), **known}
    parts = {part: parts[part] for part in PARTS if part in parts}
    place = hold(parts, test.name, _digest(*(images.fingerprint for images in parts.values())))
    # What encoded images, texts and training of a learner hang on, beside the weights.
    rest = (named.template, str(named.negatives), *model.classnames, model.kind)
    return OODBenchmarkSpec(
        sources=(DatasetSpec(place),),
        sets=tuple(OODSetSpec(_held(each), group=each.group, name=each.name) for each in others),
        models=(JudgedSpec(own=hold(model, model.name, _digest(model.fingerprint, *rest)), detectors=entries),),
        shots=None,
        seeds=(named.seed,),
        threads=torch.get_num_threads(),
        validation_sets=tuple(PoolSpec(_held(each)) for each in strange),
        validated="validation" in known,
        remarks=(*notes, *left_out),
        **settings,
    )


def detect_images(
    named: GivenModel,
    id: Any,
    ood: Any,
    *,
    train: Any,
    validation: Any,
    validation_ood: Sequence[Any],
    detector: Sequence[str],
    flag_rate: float | None,
    root: str,
    replicates: int,
    out: Path | None,
    allow_corrupt: int,
    observer: Observer,
    made: Mapping[str, str],
) -> Report:
    if (isinstance(named.model, str) and not named.model) and holds_embeddings(id, "class_embeddings"):
        named = replace(named, model=id)  # as those of the images were made by
    known, notes = known_images(id, train, validation, root)
    others = named_sets(ood, root, benchmark_of(id))
    if not others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    strange = validation_sets(validation_ood, known, others, root)
    if flag_rate is not None and "validation" in known:
        require_enough(len(known["validation"]), flag_rate)
    ours = out is not None and _is_ours(out)
    if out is not None:
        places = ood.values() if isinstance(ood, Mapping) else [each.partition("=")[2] for each in ood]
        inputs = (named.model, *named.members, id, train, validation, *places, *validation_ood)
        require_folder("--out", out, own=(DETECTED, RUN) if ours else (DETECTED,), pages=PAGES, inputs=inputs)
    model = named.find(known, observer.progress)
    how: dict[str, Any] = {"detector": detector, "notes": notes, "flag_rate": flag_rate, "replicates": replicates}
    spec = held_spec(named, model, known, others, strange, **how)
    try:
        if ours and RunStore(out).description()["resolved"] != to_json(spec):
            for name in (CACHE, "units", "plan.json", "run.json"):  # which says whose the others are
                remove(out / name)
        with ScratchFolder() if out is None else nullcontext(out) as folder:
            folder = Path(folder)
            options = RunOptions(folder, named.device, 1, folder / CACHE, allow_corrupt, beside=(DETECTED,))
            carry_out(spec, spec, options, replace(observer, say=lambda line: None))
            run = RunFolder.read(folder)
            results, sets = results_of(units_of(run))
            facts = {**made, "model": f"{model.name}, {model.fingerprint[:16]}"}
            if model.facts:
                facts |= dict(zip(("training", "settings"), model.facts.sentences(), strict=True))
            warnings = (*spec.remarks, *sets.warnings, *_searched(results, known, strange))
            images = {**known, **{each.name: each.images for each in others}}
            sets = replace(_with_places(sets, images), made=facts, warnings=warnings)
            report = _report(sets, results, named, model, flag_rate, None if out is None else run)
            remove(folder / CACHE)
            return report
    finally:
        release(*(entry.dataset for entry in (*spec.sources, *spec.sets, *spec.validation_sets)), spec.models[0].own)


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds a run that this command began."""
    if not (folder / "run.json").is_file():
        return False
    resolved = RunStore(folder).description()["resolved"]
    sources = resolved.get("sources") if isinstance(resolved, dict) else None
    return bool(sources) and is_held(str(sources[0].get("dataset", "")))


def _report(
    sets: ScoredSets,
    results: Results,
    named: GivenModel,
    model: JudgedModel,
    flag_rate: float | None,
    run: RunFolder | None,
) -> Report:
    """Return what a run says; with its files, where it is kept."""
    # One model and one seed: nothing here is a mean over seeds.
    rows = (
        replace(row, where={key: place for key, place in row.where.items() if key != "seed"}, seeds=(), per_seed=())
        for row in results
    )
    results, saved = replace(results, rows=tuple(rows)), None
    if flag_rate is not None:
        saved = choose_thresholds(sets, flag_rate, ranked(sets, results), named.saved(model))
    report = compared(sets, results, saved, run=run)
    if run is None:
        return report
    report.write()
    if named.learner and isinstance(model, TowerModel) and model.learner:
        for name, content in model.learner.files().items():
            write_file(run.folder / LEARNER / name, content)
    if saved is not None:
        write_saved(saved, run.records[0].attachment(FITTED) if saved.model.model else None, run.folder)
    return report


def _with_places(sets: ScoredSets, images: Mapping[str, ImageSet]) -> ScoredSets:
    """Return the sets with images as they are found on this machine, by the name of their set."""

    def placed(each: SetScores) -> SetScores:
        row_of = {images[each.name].path_of(row): row for row in range(len(images[each.name]))}
        rows = np.array([row_of[path] for path in each.images.tolist()])
        return replace(each, images=image_names(images[each.name], rows))

    validation = sets.validation and placed(sets.validation)
    return replace(sets, test=placed(sets.test), others=tuple(map(placed, sets.others)), validation=validation)


def _searched(results: Results, known: KnownImages, strange: Sequence[NamedSet]) -> tuple[str, ...]:
    """Return what the settings were searched on, as a sentence."""
    if not strange:
        return ()
    searched = {row.entity for row in results if row.metric.key == "validation_auroc"}
    if not searched:
        return ("No detector here has settings to search: the validation images out of distribution are not used.",)
    sets = " and ".join(f"{len(each.images):,} of {each.name}" for each in strange)
    return (
        f"Settings of {len(searched)} detector(s) were searched on {len(known['validation']):,} in-distribution "
        f"validation images and {sets}; no tested image had a say. Each image was looked at once, by all settings.",
    )


def _held(each: NamedSet) -> str:
    return hold({"test": each.images}, each.name, each.images.fingerprint)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
