"""Settings with which every learner is fitted on the small world in a second: few epochs, and what is said here."""

from openworld.learners import LEARNERS, Schedule

_SETTINGS = {
    "CoOp": {"context_length": 4, "schedule": Schedule(epochs=2)},
    "KgCoOp": {"words": None, "schedule": Schedule(epochs=2)},
    "VPT": {"image_length": 4, "schedule": Schedule(epochs=2, batch_size=14, warmup=False)},
    "MaPLe": {"depth": 2, "schedule": Schedule(epochs=2, batch_size=14, warmup=False)},
    "IVLP": {"text_depth": 2, "image_depth": 3, "schedule": Schedule(epochs=2, batch_size=14, warmup=False)},
    "PromptSRC": {"depth": 2, "mean": 2, "schedule": Schedule(epochs=2, batch_size=14, warmup=False)},
    "DePT": {"words": None, "schedule": Schedule(epochs=2)},
    "DeCoOp": {
        "detector_context": 4,
        "classifier_context": 4,
        "detector_schedule": Schedule(epochs=2, warmup=False, drop_last=False, decay="none"),
        "schedule": Schedule(epochs=2, warmup=False, drop_last=False, decay="per step", cosine_epochs=100),
    },
    "GMoP": {"detector_context": 4, "schedule": Schedule(epochs=2, warmup=False, drop_last=False)},
    "CoCoOp": {"words": None, "schedule": Schedule(epochs=2, batch_size=14)},
    "ProGrad": {"context_length": 4, "schedule": Schedule(epochs=2)},
    "RPO": {"prompts": 4, "schedule": Schedule(epochs=2, batch_size=14, warmup=False)},
    "ProDA": {"contexts": 8, "context_length": 4, "schedule": Schedule(epochs=2, learning_rate=1e-3)},
    "TCP": {"schedule": Schedule(epochs=2, optimizer="Adam", adam_epsilon=1e-3)},
    "LoCoOp": {"context_length": 4, "schedule": Schedule(epochs=2)},
    "MMRL": {
        "depth": 2,
        "token_width": 16,
        "schedule": Schedule(epochs=2, batch_size=14, learning_rate=1e-3, warmup=False, optimizer="AdamW"),
    },
    "SkipTuning": {"depth": 2, "schedule": Schedule(epochs=2, batch_size=14, learning_rate=1e-2, warmup=False)},
    "2SFS": {
        "schedule": Schedule(
            epochs=2,
            batch_size=14,
            learning_rate=1e-2,
            warmup=False,
            decay="per step",
            optimizer="AdamW",
            drop_last=False,
        )
    },
    "GalLoP": {"top": (2, 4), "schedule": Schedule(epochs=2, warmup=False)},
}
SMALL = {
    name: _SETTINGS.get(name, {"schedule": Schedule(epochs=2)} if hasattr(learner, "schedule") else {})
    for name, learner in LEARNERS.items()
}
