"""OpenAI's CLIP in its plain form, with PyTorch's own attention: what open_clip's and OpenAI's weights are checked by.

Its state dict has the names of the published ones (openai/CLIP@a1d0717, clip/model.py). Heads are 64 features wide.
"""

import torch
from torch import nn


class Activation(nn.Module):
    def __init__(self, quick: bool):
        super().__init__()
        self.quick = quick

    def forward(self, rows):
        return rows * torch.sigmoid(1.702 * rows) if self.quick else nn.functional.gelu(rows)


class Block(nn.Module):
    def __init__(self, width: int, heads: int, quick: bool, masked: bool):
        super().__init__()
        self.attn = nn.MultiheadAttention(width, heads)
        self.ln_1 = nn.LayerNorm(width)
        self.mlp = nn.Sequential()
        self.mlp.add_module("c_fc", nn.Linear(width, 4 * width))
        self.mlp.add_module("gelu", Activation(quick))
        self.mlp.add_module("c_proj", nn.Linear(4 * width, width))
        self.ln_2 = nn.LayerNorm(width)
        self.masked = masked

    def forward(self, rows):
        normed, mask = self.ln_1(rows), None
        if self.masked:
            mask = torch.full((len(rows), len(rows)), float("-inf")).triu(1).to(rows.dtype)
        rows = rows + self.attn(normed, normed, normed, need_weights=False, attn_mask=mask)[0]
        return rows + self.mlp(self.ln_2(rows))


class Transformer(nn.Module):
    def __init__(self, width: int, layers: int, quick: bool, masked: bool):
        super().__init__()
        self.resblocks = nn.Sequential(*(Block(width, width // 64, quick, masked) for _ in range(layers)))

    def forward(self, rows):
        return self.resblocks(rows)


class Vision(nn.Module):
    def __init__(self, side: int, patch: int, width: int, layers: int, joint: int, quick: bool):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(torch.zeros(width))
        self.positional_embedding = nn.Parameter(torch.zeros((side // patch) ** 2 + 1, width))
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = Transformer(width, layers, quick, masked=False)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.zeros(width, joint))

    def forward(self, pixels):
        rows = self.conv1(pixels).flatten(2).permute(0, 2, 1)
        first = self.class_embedding.expand(len(rows), 1, -1)
        rows = self.ln_pre(torch.cat([first, rows], 1) + self.positional_embedding)
        rows = self.transformer(rows.permute(1, 0, 2)).permute(1, 0, 2)
        return self.ln_post(rows[:, 0]) @ self.proj


class PlainClip(nn.Module):
    """16 x 16 pixels in patches of 4, 77 positions, joint dimension 24; towers 128 wide, with 2 heads."""

    def __init__(self, quick: bool = True, width: int = 128, layers: int = 2, vocabulary: int = 49408, side: int = 16):
        super().__init__()
        self.visual = Vision(side, 4, width, layers, 24, quick)
        self.transformer = Transformer(width, layers, quick, masked=True)
        self.token_embedding = nn.Embedding(vocabulary, width)
        self.positional_embedding = nn.Parameter(torch.zeros(77, width))
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.zeros(width, 24))
        self.logit_scale = nn.Parameter(torch.ones([]))
        self.randomise()

    def randomise(self):
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                noise, norm = torch.randn(parameter.shape, generator=generator), "ln_" in name and "weight" in name
                parameter.copy_(0.15 * noise if parameter.dim() > 1 else norm + 0.2 * noise)
            self.logit_scale.fill_(4.6052)

    def encode_image(self, pixels):
        return self.visual(pixels)

    def encode_text(self, tokens):
        rows = self.token_embedding(tokens) + self.positional_embedding
        rows = self.ln_final(self.transformer(rows.permute(1, 0, 2)).permute(1, 0, 2))
        return rows[torch.arange(len(rows)), tokens.argmax(-1)] @ self.text_projection

    def forward(self, pixels, tokens):
        return self.encode_image(pixels), self.encode_text(tokens)
