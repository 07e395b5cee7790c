"""2SFS (Farina et al., 2025): the norms of both towers first, then a linear classifier of the base classes on top.

The first stage learns what the task looks like, without a number for any one class; the second freezes the towers and
starts the classifier from the text features of the base names. New names are read by the tuned text tower. The authors'
repository (FarinaMatteo/rethinking_fewshot_vlms @ 64ac143) was read in a copy, KilianLP/CoOpLoraSquared- @ 2b56480;
inferred: that the last, smaller batch of a pass is kept, and the sentence of ImageNet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Annotated

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn import LayerNorm
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import TwoTower
from openworld.core.errors import OpenworldError
from openworld.core.gpu_memory import BatchSize
from openworld.core.types import Range, checked
from openworld.datasets.templates import PHOTO, TEMPLATES, fill
from openworld.features import Features
from openworld.learners.engine.fitted import CHUNK, FittedLearner, Learner
from openworld.learners.engine.fitting import batches_of, require_trainable
from openworld.learners.engine.images import Answer, Images, Tensors, select_images
from openworld.learners.engine.settings import PublishedSetting
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, cosine_logits
from openworld.learners.engine.text_features import Sentence, encode_names, widen
from openworld.learners.engine.training import Loop, Schedule, minimise

CLASSIFIER = "classifier"


@checked
@dataclass(frozen=True)
class TwoSFS(Learner):
    """Cross-entropy of cosine logits in both stages.

    It tunes 65,536 + 512 C numbers at ViT-B/16 for C base classes. Norms are named as the backbone's own weights.

    Args:
        first_share: of the epochs, for the first stage; above 0, below 1.
        template: sentence of the names; `published` knows each data set's.
        schedule: of both stages together: 300 epochs of as many steps as there are shots (images of a class, in the
            mean), whatever the number of classes; 32 images a step at 0.0002 by AdamW, and in each stage one cosine
            over its steps. The same for every data set and task.
    """

    first_share: Annotated[float, Range(0, 1, "()")] = 0.6
    template: Sentence = PHOTO
    schedule: Schedule = Schedule(
        epochs=300,
        learning_rate=2e-4,
        weight_decay=1e-2,
        warmup=False,
        decay="per step",
        optimizer="AdamW",
        drop_last=False,
    )

    name = "2SFS"
    paper = "Farina et al., 2025"
    tunes = "the norms of both towers, then a linear classifier of base classes"
    cost = "both towers, with gradient; later the classifier alone"
    consumes = "pixels"
    depends_on_other_names = False
    in_stages = True

    def __post_init__(self):
        if self.schedule.epochs < 2:
            raise OpenworldError(f"schedule.epochs is {self.schedule.epochs}; two stages need at least 2.")

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "TwoSFS":
        """Return them with the sentence; the same for every task."""
        return cls(template=TEMPLATES.get(dataset, PHOTO))

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Copies of the backbone's norms, in float32, by their names there, and frozen text features float[C, J]."""
        norms = {name: clip.get_parameter(name).detach().float().clone() for name in norm_weights(clip)}
        return norms | {CLASSIFIER: encode_names(clip, classnames, (self.template,))}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> list[str]:
        """The sentences of the names."""
        return fill(self.template, classnames)

    def loss(self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: list[str]) -> Tensors:
        """The terms of both stages and the sum of their totals; labels int64[B]."""
        first = self.norm_loss(clip, parameters, images, labels, prepared)
        with torch.no_grad():
            embeddings = widen(self._tuned(clip, parameters).encode_image(images.pixels))
        second = self.classifier_loss(clip, parameters, embeddings, labels)
        return first | second | {"total": first["total"] + second["total"]}

    def norm_loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: list[str]
    ) -> Tensors:
        """The first stage alone, a function of the norms."""
        tuned = self._tuned(clip, parameters)
        image, text = widen(tuned.encode_image(images.pixels)), widen(tuned.encode_text(prepared))
        entropy = cross_entropy(cosine_logits(image, text, clip.logit_scale), labels)
        return {"cross_entropy": entropy, "total": entropy}

    def classifier_loss(self, clip: TwoTower, parameters: Tensors, embeddings: Tensor, labels: Tensor) -> Tensors:
        """The second stage alone, a function of the classifier; embeddings float[B, J] by the tuned tower."""
        entropy = cross_entropy(cosine_logits(embeddings, parameters[CLASSIFIER], clip.logit_scale), labels)
        return {"classifier_cross_entropy": entropy, "total": entropy}

    @property
    def loop(self) -> Loop:
        """The cosines end at a millionth."""
        return Loop(floor=1e-6)

    def fit(self, clip: TwoTower, train: Features, *, seed: int) -> FittedLearner:
        """Learn the norms from augmented views of the training images, then the classifier from their embeddings.

        No step of the second stage changes a tower, so that every view is encoded once for all of them.
        """
        require_trainable(self, train)
        generator = Generator().manual_seed(seed)
        norms, prepared = self.start(clip, train.classnames, generator), self.prepare(clip, train.classnames)
        norms.pop(CLASSIFIER)
        steps = max(1, round(len(train) / len(train.classnames)))
        first = min(max(1, round(self.schedule.epochs * self.first_share)), self.schedule.epochs - 1)

        def learn_norms(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
            return self.norm_loss(clip, parameters, images, labels, prepared)

        def learn_classifier(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
            return self.classifier_loss(clip, parameters, images.embeddings, labels)

        batches = batches_of(self, clip, train, generator)
        norms, tuning = self._learn(norms, learn_norms, batches, first, steps)
        tuned = self._tuned(clip, norms)
        start = {CLASSIFIER: encode_names(tuned, train.classnames, (self.template,))}
        encoded = replace(train, views=_encode_views(tuned, train))
        batches = batches_of(self, clip, encoded, generator, consumes="views")
        classifier, naming = self._learn(start, learn_classifier, batches, self.schedule.epochs - first, steps)
        return FittedLearner(self, clip, tuple(train.classnames), norms | classifier, tuning + naming)

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Rows of the classifier for names that it has learned, text features by the tuned tower for all others."""
        text = encode_names(self._tuned(clip, parameters), names.all, (self.template,))
        rows = torch.tensor(names.training_places(), device=text.device)
        classifier = normalize(parameters[CLASSIFIER], dim=-1)[rows.clamp(min=0)]
        return TextBank(torch.where(rows[:, None] < 0, text, classifier), len(names.base), clip.logit_scale)

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Cosine logits by the tuned image tower over all names, and the log of the largest base softmax."""
        return answer_by_cosine(widen(self._tuned(clip, parameters).encode_image(images.pixels)), bank)

    def _tuned(self, clip: TwoTower, parameters: Tensors) -> TwoTower:
        return clip.with_weights({name: tensor for name, tensor in parameters.items() if name != CLASSIFIER})

    def _learn(self, start: Tensors, loss: Callable, batches: Callable, epochs: int, steps: int):
        """`minimise` for epochs of so many steps, whose images come from shuffle after shuffle."""
        endless = chain.from_iterable(map(batches, count()))
        schedule = replace(self.schedule, epochs=epochs, cosine_epochs=epochs * steps)
        return minimise(start, loss, lambda epoch: islice(endless, steps), schedule, self.loop)


def norm_weights(clip: TwoTower) -> list[str]:
    """Names of the weights and biases of all layer norms of both towers."""
    norms = [name for name, module in clip.named_modules() if isinstance(module, LayerNorm)]
    return [name for name, _ in clip.named_parameters() if name.rpartition(".")[0] in norms]


@torch.no_grad()
def _encode_views(tuned: TwoTower, train: Features) -> np.ndarray:
    """float32[N, V, J], all views of the training images by the tuned tower."""
    count = train.views.shape[1]  # ty: ignore[missing-union-attribute]: `fit` has asked for them

    def part(places: slice) -> Tensor:
        rows, views = np.divmod(np.arange(places.start, places.stop), count)
        images = select_images(train, tuned, TwoSFS.consumes, rows, views)
        return widen(tuned.encode_image(images.pixels)).cpu()

    encoded = torch.cat(BatchSize(CHUNK, "encoding views with 2SFS").parts(part, len(train) * count))
    return encoded.numpy().reshape(len(train), count, -1)
