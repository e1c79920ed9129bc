"""The table of real models: forward and training step, three types, eager and compiled, one JSON line a measurement.

Run by the learners' interpreter on a GPU host: `python tests/gpu/models.py > models.jsonl`. Random weights, no network.
Law: what cannot be measured is a line too, with its reason; a missing library is said by name. `--small` makes models
of a few thousand weights, for trying this program where there is no GPU; its figures mean nothing.
"""

import argparse
import contextlib
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
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
TYPES = ("float32", "float16", "bfloat16")
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


def timed(call: Callable[[], None], finish: Callable[[], None], seconds: float) -> tuple[float, list[float]]:
    """Give the first call's seconds, and the milliseconds of the later ones, after a warm-up by time."""
    start = time.perf_counter()
    call()
    finish()
    first = time.perf_counter() - start
    end = time.perf_counter() + seconds / 4
    while time.perf_counter() < end:
        call()
        finish()
    took: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(took) < 5:
        finish()
        start = time.perf_counter()
        call()
        finish()
        took.append((time.perf_counter() - start) * 1e3)
    return first, took


def measured(name: str, chosen: argparse.Namespace, torch: Any) -> Iterator[dict[str, object]]:  # noqa: ANN401
    """Measure one model in every way that was chosen."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    finish = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    for compiled in (False,) if chosen.no_compile else (False, True):
        for work in WORK:
            for kind in chosen.types.split(","):
                line: dict[str, object] = {"model": name, "work": work, "dtype": kind, "compiled": compiled}
                try:
                    torch.manual_seed(0)
                    torch._dynamo.reset()
                    model = built(name, small=chosen.small).to(device)
                    inputs, shape = given(name, torch, device, small=chosen.small)
                    call = step(model, inputs, work, kind, torch, device, compiled=compiled)
                    if device == "cuda":
                        torch.cuda.reset_peak_memory_stats()
                    first, took = timed(call, finish, chosen.seconds)
                    line |= {"shape": shape, "first_s": round(first, 3), "calls": len(took)}
                    line |= {"median_ms": round(statistics.median(took), 4), "least_ms": round(min(took), 4)}
                    if device == "cuda":
                        line["peak_mib"] = round(torch.cuda.max_memory_allocated() / 2**20)
                except Exception as error:  # noqa: BLE001 - one way that fails keeps back no other
                    line["error"] = f"{type(error).__name__}: {error}"[:300]
                yield line


def step(  # noqa: PLR0913 - one call of one way
    model: Any, inputs: Any, work: str, kind: str, torch: Any, device: str, *, compiled: bool  # noqa: ANN401
) -> Callable[[], None]:  # fmt: skip
    """Give the call to be timed: a forward pass without gradients, or a whole training step that changes no weight."""
    dtype = getattr(torch, kind)
    cast = torch.amp.autocast(device, dtype) if kind != "float32" else contextlib.nullcontext()
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


def main() -> int:
    """Print the machine, then a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", default=",".join(names()), help="names with commas between")
    parser.add_argument("--types", default=",".join(TYPES), help="types with commas between")
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds of timing for each measurement")
    parser.add_argument("--no-compile", action="store_true", help="eager only")
    parser.add_argument("--small", action="store_true", help="tiny models, to try this program")
    parser.add_argument("--list", action="store_true", help="only print the models' names")
    chosen = parser.parse_args()
    if chosen.list:
        print("\n".join(names()))
        return 0
    unknown = sorted(set(chosen.models.split(",")) - set(names())) + sorted(set(chosen.types.split(",")) - set(TYPES))
    if unknown:
        print(f"not known: {', '.join(unknown)}; --list prints the models", file=sys.stderr)
        return 2
    import torch  # noqa: PLC0415 - `--list` needs none

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    print(json.dumps({"machine": gpu or "no GPU", "torch": torch.__version__, "small": chosen.small}), flush=True)
    for name in chosen.models.split(","):
        for line in measured(name, chosen, torch):
            print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
