"""The real models of the table: how each is built with random weights, fed, and called, forward or for a training step.

Law: no network and no trained weight; a missing library is said by name. Beside the table's program, which imports it.
"""

import contextlib
import importlib.util
from collections.abc import Callable
from typing import Any

IMAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "ResNet-18": ("ResNet", {"layer_type": "basic", "depths": [2, 2, 2, 2], "hidden_sizes": [64, 128, 256, 512]}),
    "ResNet-50": ("ResNet", {}),
    "ConvNeXt-T": ("ConvNext", {}),
    "ViT-B16": ("ViT", {}),
    "Swin-T": ("Swin", {}),
    "MobileNetV2": ("MobileNetV2", {}),
}
TEXTS: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT-base": ("Bert", {}),
    "RoBERTa-base": ("Roberta", {}),
    "DistilBERT": ("DistilBert", {}),
    "ELECTRA-base": ("Electra", {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}),
    "ALBERT-base": ("Albert", {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}),
    "GPT-2": ("GPT2", {}),
}
TIMM = {"ResNeXt-101-32x8d": "resnext101_32x8d"}
SMALL: dict[str, dict[str, Any]] = {
    "ResNet": {"layer_type": "basic", "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]},
    "ConvNext": {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2},
    "ViT": {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "image_size": 32,
    },
    "Swin": {"embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "image_size": 32, "window_size": 4},
    "MobileNetV2": {"depth_multiplier": 0.1},
    "DistilBert": {"dim": 32, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, "vocab_size": 100},
    "GPT2": {"n_embd": 32, "n_layer": 1, "n_head": 2, "vocab_size": 100, "bos_token_id": 0, "eos_token_id": 0},
}
SMALL_TEXT: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 100,
}  # fmt: skip
TYPES = {"tf32": "float32", "bfloat16": "bfloat16", "float16": "float16"}
"""A name in the table, and torch's for the type: products of float32 may be done in TF32, which is named."""
HALF = ("ResNet-50", "BERT-base", "ResNeXt-101-32x8d")
"""Those that are tried in float16 too."""
WORK = ("forward", "train")


def names() -> list[str]:
    """Give every model of the table."""
    return [*IMAGES, *TEXTS, *TIMM]


def built(name: str, *, small: bool) -> Any:  # noqa: ANN401 - a torch module; torch is imported where it is there
    """Make a model with random weights from its configuration.

    Raises LookupError with the library's name where it is missing.
    """
    library = "timm" if name in TIMM else "transformers"
    for wanted in (library, *(("torchvision",) if library == "timm" else ())):
        if importlib.util.find_spec(wanted) is None:
            wrong = f"{wanted} is missing"
            raise LookupError(wrong)
    if name in TIMM:
        import timm  # noqa: PLC0415

        return timm.create_model(TIMM[name], pretrained=False)
    import transformers  # noqa: PLC0415

    kind, own = IMAGES[name] if name in IMAGES else TEXTS[name]
    options: dict[str, Any] = SMALL.get(kind, SMALL_TEXT) if small else own
    config = getattr(transformers, f"{kind}Config")(**options)
    return getattr(transformers, f"{kind}Model")(config)


def given(name: str, torch: Any, device: str, *, small: bool) -> tuple[Any, list[int]]:  # noqa: ANN401
    """Make random inputs, and say their shape."""
    if name in TEXTS:
        shape = [2, 8] if small else [16, 128]
        return torch.randint(1, 100, shape, device=device), shape
    shape = [2, 3, 32, 32] if small else [64, 3, 224, 224]
    return torch.randn(shape, device=device), shape


def loss_of(out: Any) -> Any:  # noqa: ANN401
    """Give a scalar that depends on every output."""
    return (out if hasattr(out, "pow") else out.last_hidden_state).float().pow(2).mean()


def step(  # noqa: PLR0913 - one call of one way
    model: Any, inputs: Any, work: str, kind: str, torch: Any, device: str, *, compiled: bool  # noqa: ANN401
) -> Callable[[], None]:  # fmt: skip
    """Give the call to be timed: a forward pass without gradients, or a whole training step that changes no weight."""
    dtype = getattr(torch, TYPES[kind])
    cast = torch.amp.autocast(device, dtype) if dtype is not torch.float32 else contextlib.nullcontext()
    fast = torch.compile(model) if compiled else model
    if work == "forward":
        model.eval()

        def forward() -> None:
            with torch.inference_mode(), cast:
                fast(inputs)

        return forward
    model.train()
    opt = torch.optim.SGD(model.parameters(), lr=0.0)
    scaler = torch.amp.GradScaler(device, enabled=kind == "float16")

    def train() -> None:
        opt.zero_grad()
        with cast:
            loss = loss_of(fast(inputs))
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()

    return train
