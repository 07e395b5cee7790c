"""Small packages with the interfaces of pytorch-ood 0.4 and OpenOOD v1.5, written from their documentation.

They are as rude as these: print, draw from the global generator, switch modes, write gradients, call `.cuda()`.
"""

import sys
from types import ModuleType

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize


class _Detector:
    requires_fit = False

    def to(self, device):
        return self

    def predict(self, x):
        raise AssertionError("scored through a model that was not asked for")


class EnergyBased(_Detector):
    def __init__(self, model, t=1.0):
        assert model is None
        self.t = t

    def predict_logits(self, logits):
        print("a library that prints")
        return -self.t * torch.logsumexp(logits / self.t, dim=1)


class KNN(_Detector):
    requires_fit = True

    def __init__(self, encoder, k=50, normalize=True, **knn_kwargs):
        self.k = k

    def fit_features(self, x, y):
        if len(x) < self.k:
            raise ValueError(f"k={self.k} exceeds {len(x)}")
        self.bank = normalize(x, dim=1)

    def predict_features(self, x):
        assert len(x) <= 128
        return torch.cdist(normalize(x, dim=1), self.bank).sort(dim=1).values[:, self.k - 1]


class DICE(_Detector):
    requires_fit = True

    def __init__(self, encoder, w, b, p, detector=None):
        self.w, self.b, self.p = w, b, p

    def fit_features(self, z, y):
        shares = z.mean(dim=0) * self.w
        self.masked = self.w * (shares > np.quantile(shares.numpy(), self.p))

    def predict_features(self, x):
        return -torch.logsumexp(x @ self.masked.T + self.b, dim=1)


class ReAct(_Detector):
    requires_fit = True

    def __init__(self, backbone, head, threshold=None, percentile=0.9, detector=None):
        self.head, self.threshold, self.percentile = head, threshold, percentile

    def fit_feature_maps(self, feature_maps, y):
        self.threshold = float(np.percentile(feature_maps.numpy(), 100 * self.percentile))

    def predict_feature_maps(self, feature_maps):
        return -torch.logsumexp(self.head(feature_maps.clip(max=self.threshold)), dim=1)


class GradNorm(_Detector):
    def __init__(self, model, param_filter=None, temperature=1.0):
        self.model, self.wanted = model, param_filter or (lambda name: True)

    def predict(self, x):
        scores = []
        for image in x:
            self.model.zero_grad()
            (-self.model(image[None]).log_softmax(dim=1).mean()).backward()
            wanted = [own.grad.abs().sum() for name, own in self.model.named_parameters() if self.wanted(name)]
            scores.append(-sum(wanted))
        return torch.stack(scores)


class ODIN(_Detector):
    def __init__(self, model, criterion=None, eps=0.0014, temperature=1000.0, norm_std=None):
        self.model, self.eps, self.t, self.std = model, eps, temperature, torch.tensor(norm_std)[:, None, None]

    def predict(self, x):
        x.requires_grad_()
        logits = self.model(x) / self.t
        cross_entropy(logits, logits.argmax(dim=1)).backward()
        moved = x.detach() - self.eps * x.grad.sign() / self.std
        return -(self.model(moved).double() / self.t).softmax(dim=1).amax(dim=1)


class MahalanobisODIN(_Detector):
    """The gradient alone, of the distance to the mean of all."""

    requires_fit = True

    def __init__(self, encoder, eps=0.002, norm_std=None):
        self.encoder = encoder

    def fit_features(self, z, y):
        self.mean = z.mean(dim=0)

    def predict(self, x):
        x.requires_grad_()
        (self.encoder(x) - self.mean).square().sum().backward()
        return x.grad.flatten(1).norm(dim=1)


class MCD(_Detector):
    def __init__(self, model, samples=30, mode="var", batch_norm=True):
        self.model, self.samples = model, samples

    def predict(self, x):
        self.model.train()
        return torch.stack([self.model(x).softmax(dim=1) for _ in range(self.samples)]).var(dim=0).mean(dim=1)


class Gram(_Detector):
    """The mean of every layer's maps less that of the training images, times the largest logit."""

    requires_fit = True

    def __init__(self, head, feature_layers, num_classes, num_poles_list=None):
        self.head, self.feature_layers, self.num_classes = head, feature_layers, num_classes

    def _means(self, x):
        means = []
        for layer in self.feature_layers:
            x = layer(x)
            means.append(x.flatten(1).mean(dim=1))
        logits = self.head(x)
        assert logits.shape[1] == self.num_classes
        return torch.stack(means, dim=1), logits

    def fit(self, data_loader):
        self.usual = torch.cat([self._means(x)[0] for x, y in data_loader if len(y)]).mean(dim=0)

    def predict(self, x):
        means, logits = self._means(x)
        return (means - self.usual).abs().sum(dim=1) * logits.amax(dim=1)


class MultiMahalanobis(_Detector):
    """Squared distances to the nearest class mean, over all layers."""

    requires_fit = True

    def __init__(self, model, alpha=None):
        self.model = model

    def fit_structured(self, zs, y):
        assert len(zs) == len(self.model)
        self.means = [torch.stack([z[y == own].mean(dim=0) for own in y.unique()]) for z in zs]

    def predict_structured(self, zs, device=None):
        return sum(torch.cdist(z, own).square().amin(dim=1) for z, own in zip(zs, self.means, strict=True))


class MCM(_Detector):
    def __init__(self, encoder, text_embeddings, temperature=1.0):
        self.texts, self.t = text_embeddings, temperature

    def predict_features(self, x):
        return -(normalize(x, dim=1) @ normalize(self.texts, dim=1).T / self.t).softmax(dim=1).amax(dim=1)


class WeightedEBO(_Detector):
    def __init__(self, model, weights):
        raise AssertionError


PYTORCH_OOD = (EnergyBased, KNN, DICE, ReAct, GradNorm, ODIN, MahalanobisODIN, MCD, Gram, MultiMahalanobis, MCM)


class BasePostprocessor:
    def __init__(self, config):
        self.config, self.args = config, config.postprocessor.postprocessor_args

    def setup(self, net, id_loader_dict, ood_loader_dict):
        pass

    @torch.no_grad()
    def postprocess(self, net, data):
        conf, pred = net(data.cuda()).softmax(dim=1).max(dim=1)
        return pred, conf

    def collected(self, net, loader):
        print("Extracting features ...", file=sys.stderr)
        seen = [(*net(batch["data"].cuda(), return_feature=True), batch["label"]) for batch in loader]
        return [torch.cat(parts) for parts in zip(*seen, strict=True)]


class EBOPostprocessor(BasePostprocessor):
    def postprocess(self, net, data):
        t = self.args.temperature
        return None, t * torch.logsumexp(net(data) / t, dim=1)


class KNNPostprocessor(BasePostprocessor):
    def setup(self, net, id_loader_dict, ood_loader_dict):
        self.bank = normalize(self.collected(net, id_loader_dict["train"])[1], dim=1)

    def postprocess(self, net, data):
        _, feature = net(data, return_feature=True)
        squared = torch.cdist(normalize(feature, dim=1), self.bank).square()
        return None, torch.from_numpy(-squared.sort(dim=1).values[:, self.args.K - 1].numpy())


class SHEPostprocessor(BasePostprocessor):
    def __init__(self, config):
        super().__init__(config)
        self.num_classes = {"imagenet": 1000}[config.dataset.name]

    def setup(self, net, id_loader_dict, ood_loader_dict):
        logits, features, labels = self.collected(net, id_loader_dict["train"])
        right = logits.argmax(dim=1) == labels
        self.means = torch.stack([features[right & (labels == own)].mean(dim=0) for own in range(self.num_classes)])

    def postprocess(self, net, data):
        logits, feature = net(data, return_feature=True)
        return None, (feature * self.means[logits.argmax(dim=1)]).sum(dim=1)


class ReactPostprocessor(BasePostprocessor):
    def setup(self, net, id_loader_dict, ood_loader_dict):
        features = self.collected(net, id_loader_dict["val"])[1]
        self.threshold = np.percentile(features.numpy().flatten(), self.args.percentile)

    def postprocess(self, net, data):
        return None, torch.logsumexp(net.forward_threshold(data, self.threshold), dim=1)


class ReactNet(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone

    def forward(self, x, return_feature=False, return_feature_list=False):
        return self.backbone(x, return_feature, return_feature_list)

    def forward_threshold(self, x, threshold):
        last = self.backbone(x, return_feature_list=True)[1][-1]
        return self.backbone.get_fc_layer()(last.clip(max=threshold).flatten(1))


class GradNormPostprocessor(BasePostprocessor):
    def postprocess(self, net, data):
        w, b = net.get_fc()
        p = (net(data, return_feature=True)[1] @ torch.from_numpy(w).T + torch.from_numpy(b)).softmax(dim=1)
        slopes = (p.shape[1] * p - 1).abs().sum(dim=1)
        return None, slopes * net(data, return_feature=True)[1].abs().sum(dim=1)


class ODINPostprocessor(BasePostprocessor):
    def __init__(self, config):
        super().__init__(config)
        self.input_std = [0.5, 0.5, 0.5]

    def postprocess(self, net, data):
        data.requires_grad = True
        logits = net(data) / self.args.temperature
        nn.CrossEntropyLoss()(logits, logits.detach().argmax(dim=1)).backward()
        signs = torch.where(data.grad >= 0, 1.0, -1.0) / torch.tensor(self.input_std)[:, None, None]
        moved = net(data.detach() - self.args.noise * signs).double() / self.args.temperature
        return None, moved.detach().softmax(dim=1).amax(dim=1)


class RankFeatPostprocessor(BasePostprocessor):
    @torch.no_grad()
    def postprocess(self, net, data):
        assert not self.args.accelerate
        late, early = (net.intermediate_forward(data.cuda(), layer_index=index) for index in (4, 3))
        both = [net.fc(net.avgpool(maps).flatten(1)) for maps in (self._cut(late), net.layer4(self._cut(early)))]
        return None, torch.logsumexp((both[0] + both[1]) / 2, dim=1)

    def _cut(self, maps):
        u, s, v = torch.linalg.svd(maps.flatten(2).double(), full_matrices=False)
        return (maps.flatten(2) - (s[:, :1, None] * u[:, :, :1] @ v[:, :1])).view(maps.shape).float()


class MDSEnsemblePostprocessor(BasePostprocessor):
    """Class means of the first maps alone, and their number of pixels moved by nothing."""

    def setup(self, net, id_loader_dict, ood_loader_dict):
        assert not ood_loader_dict
        pairs = [(net(batch["data_aux"].cuda(), return_feature_list=True)[1][0].mean(dim=(2, 3)), batch["label"])
                 for batch in id_loader_dict["train"]]  # fmt: skip
        first, labels = (torch.cat(parts) for parts in zip(*pairs, strict=True))
        self.means = torch.stack([first[labels == own].mean(dim=0) for own in labels.unique()]).detach()

    def postprocess(self, net, data):
        first = net(data, return_feature_list=True)[1][0].mean(dim=(2, 3))
        return None, -torch.cdist(first, self.means).amin(dim=1) * torch.cuda.FloatTensor(self.args.alpha_list)


class OwnPostprocessor(BasePostprocessor):
    """One that somebody wrote: the images and the whole classifier."""

    def setup(self, net, id_loader_dict, ood_loader_dict):
        net.train()
        self.brightness = torch.cat([batch["data"].mean(dim=(1, 2, 3)) for batch in id_loader_dict["train"]]).mean()

    def postprocess(self, net, data):
        return None, -(data.mean(dim=(1, 2, 3)) - self.brightness).abs() * self.args.scale


OPENOOD = (
    BasePostprocessor,
    EBOPostprocessor,
    KNNPostprocessor,
    SHEPostprocessor,
    ReactPostprocessor,
    GradNormPostprocessor,
    ODINPostprocessor,
    RankFeatPostprocessor,
    MDSEnsemblePostprocessor,
    OwnPostprocessor,
)


def install(monkeypatch) -> None:
    """Put both in the place of the libraries, whether these are installed or not."""
    parts = {
        "pytorch_ood": (),
        "pytorch_ood.detector": (*PYTORCH_OOD, WeightedEBO),
        "openood": (),
        "openood.postprocessors": OPENOOD,
        "openood.networks": (),
        "openood.networks.react_net": (ReactNet,),
    }
    for name, kinds in parts.items():
        module = ModuleType(name)
        module.__path__ = []
        vars(module).update({kind.__name__: kind for kind in kinds})
        monkeypatch.setitem(sys.modules, name, module)
