"""Settings with which every learner is fitted on the small world in a moment: one step, little to read."""

from dataclasses import replace

from openworld.learners import LEARNERS, Schedule

STEP = Schedule(epochs=1, batch_size=28, warmup=False)
ADAMW = replace(STEP, learning_rate=1e-2, optimizer="AdamW", drop_last=False)
_SETTINGS = {
    "zero-shot-ensemble": {"templates": ("a photo of a {}.", "itap of a {}.")},
    "CoOp": {"context_length": 4},
    "KgCoOp": {"words": None},
    "VPT": {"image_length": 4},
    "MaPLe": {"depth": 2},
    "IVLP": {"text_depth": 2, "image_depth": 3},
    "PromptSRC": {"depth": 2, "mean": 1},
    "DePT": {"words": None},
    # Of its two stages the first has the larger loss with this margin.
    "DeCoOp": {"detector_context": 4, "classifier_context": 4, "margin": 20.0, "detector_schedule": STEP},
    "GMoP": {"detector_context": 4},
    "CoCoOp": {"words": None},
    "ProGrad": {"context_length": 4},
    "RPO": {"prompts": 4},
    "ProDA": {"contexts": 8, "context_length": 4, "schedule": replace(STEP, learning_rate=1e-3)},
    "TCP": {"schedule": replace(STEP, optimizer="Adam", adam_epsilon=1e-3)},
    "LoCoOp": {"context_length": 4},
    "MMRL": {"depth": 2, "token_width": 16, "schedule": replace(ADAMW, learning_rate=1e-3)},
    "SkipTuning": {"depth": 2, "schedule": replace(STEP, learning_rate=1e-2)},
    "2SFS": {"schedule": replace(ADAMW, epochs=2, decay="per step")},
    "GalLoP": {"top": (2, 4)},
}
SMALL = {
    name: ({"schedule": STEP} if hasattr(learner, "schedule") else {}) | _SETTINGS.get(name, {})
    for name, learner in LEARNERS.items()
}
