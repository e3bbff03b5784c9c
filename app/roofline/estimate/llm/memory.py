"""The memory of one device: weights, keys and values; in training gradients and optimizer, too."""

from math import ceil

from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.ops import stage_of
from roofline.estimate.llm.workload import Workload
from roofline.estimate.work import bytes_per_element

_ADAM_STATE = 12  # bytes per parameter: fp32 master weights and two moments


def memory_bytes(model: ModelConfig, load: Workload) -> float:
    """Bytes of one device. Activations and workspace are not part of it."""
    if load.phase == "train":
        each = bytes_per_element(load.weights) + load.grad_bytes + _ADAM_STATE
        return stage_parameters(model, load) * each
    stage = stage_of(model, load.pp)
    routed = stage.routed_parameters
    resident = stage_parameters(model, load) - routed / load.tp
    experts = bytes_per_element(load.expert_weights or load.weights)
    weights = resident * bytes_per_element(load.weights)
    return weights + routed * experts / (load.tp * load.ep) + cache_bytes(model, load)


def stage_parameters(model: ModelConfig, load: Workload) -> float:
    """Parameters per device before experts are spread; of a pipeline those of its largest stage."""
    stage = stage_of(model, load.pp)
    tables = 1 if load.pp > 1 or model.tied else 2  # the first stage or the last one has each
    unused = stage.parameters - stage.vocabulary * stage.hidden * (1 if stage.tied else 2)
    return (unused + tables * stage.vocabulary * stage.hidden) / load.tp


def cache_bytes(model: ModelConfig, load: Workload) -> float:
    """Keys and values of all sequences per device, in whole blocks of `kv_block` tokens."""
    stage = stage_of(model, load.pp)
    held = load.batch * _sequence_elements(stage, load, load.context)
    held += load.prompts * _sequence_elements(stage, load, load.prompt_cached + load.prompt_tokens)
    return held * bytes_per_element(load.kv)


def cache_bytes_per_token(model: ModelConfig, load: Workload) -> tuple[float, float]:
    """Bytes that a further token of one sequence adds: in full layers, and in windowed ones."""
    size = bytes_per_element(load.kv)
    full = model.layers - model.windowed_layers
    each = _elements(model, load) * size
    return full * each, model.windowed_layers * each


def _elements(model: ModelConfig, load: Workload) -> float:
    """Elements of the cache per token and layer, on one rank."""
    if model.is_latent:
        return model.kv_rank + model.head_with_position
    return 2 * max(model.kv_heads / load.tp, 1) * model.head_size


def _sequence_elements(stage: ModelConfig, load: Workload, context: int) -> float:
    """Elements of one sequence: all layers, each with the keys that it keeps."""
    full = stage.layers - stage.windowed_layers
    kept = min(context, stage.window) if stage.window else 0
    keys = full * _blocks(context, load) + stage.windowed_layers * _blocks(kept, load)
    return keys * _elements(stage, load)


def _blocks(tokens: int, load: Workload) -> int:
    return ceil(tokens / load.kv_block) * load.kv_block
