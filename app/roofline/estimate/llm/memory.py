"""The memory of one device: weights, keys and values; in training gradients and optimizer, too."""

from math import ceil

from roofline.estimate.llm.config import ModelConfig
from roofline.estimate.llm.ops import stage_of
from roofline.estimate.llm.workload import Workload
from roofline.estimate.ops import bytes_per_element

_ADAM_STATE = 12  # bytes per parameter: fp32 master weights and two moments


def memory_bytes(model: ModelConfig, load: Workload) -> float:
    """Bytes of one device. Activations and workspace are not part of it."""
    if load.phase == "train":
        return sum(training_bytes(model, load).values())
    stage = stage_of(model, load.pp)
    routed = stage.routed_parameters
    resident = stage_parameters(model, load) - routed / load.tp
    experts = bytes_per_element(load.expert_weights or load.weights)
    weights = resident * bytes_per_element(load.weights)
    return weights + routed * experts / (load.tp * load.ep) + cache_bytes(model, load)


OPTIMIZER, GRADIENTS, WEIGHTS = 1, 2, 3
"""What the ranks of ZeRO share: the optimizer's state, gradients too, and weights too."""
_GATHERED_LAYERS = 2  # the one in use, and the next one ahead


def training_bytes(model: ModelConfig, load: Workload) -> dict[str, float]:
    """Bytes of one device in training by kind, without activations."""
    held, share = sum(device_parameters(model, load)), load.sharing
    size = bytes_per_element(load.weights)
    gathered = _GATHERED_LAYERS * size * layer_parameters(model, load)[0]
    return {
        "weights": size * held / (share if load.zero >= WEIGHTS else 1),
        "gradients": load.grad_bytes * held / (share if load.zero >= GRADIENTS else 1),
        "optimizer": _ADAM_STATE * held / (share if load.zero >= OPTIMIZER else 1),
        "gathered": gathered if load.zero >= WEIGHTS else 0,
    }


def device_parameters(model: ModelConfig, load: Workload) -> tuple[float, float]:
    """Parameters of one device: all but the routed experts, and its part of these."""
    experts = stage_of(model, load.pp).routed_parameters / load.tp
    return stage_parameters(model, load) - experts, experts / load.ep


def layer_parameters(model: ModelConfig, load: Workload) -> tuple[float, float, int]:
    """Parameters of a layer (the mean) and of all outside of layers on one device; its layers."""
    stage = stage_of(model, load.pp)
    tables = stage.vocabulary * stage.hidden * (1 if load.pp > 1 or model.tied else 2)
    root = (tables + stage.hidden) / load.tp
    layer = (sum(device_parameters(model, load)) - root) / stage.layers
    return layer, root, stage.layers


def activation_bytes(model: ModelConfig, load: Workload) -> float:
    """What the backward pass needs of the forward pass, on the first stage, without logits; 0 in
    phases without one.

    With flash attention, a bytes each: inputs of both norms, of queries, keys, values and of gate
    and up, these themselves, attention's result, the product in the MLP. Selective recomputation
    drops the norms' and the MLP's results, full all but the layers' inputs.
    """
    if load.phase != "train":
        return 0.0
    stage = stage_of(model, load.pp)
    size = bytes_per_element(load.activations)
    whole = [
        (calls, _token_bytes(stage, load, is_expert=is_expert, is_selective=False))
        for calls, is_expert in ((stage.mlp_layers, False), (stage.expert_layers, True))
    ]
    if load.recompute == "full":
        each = stage.layers * stage.hidden * size + max(one for calls, one in whole if calls)
    elif load.recompute == "selective":
        each = stage.mlp_layers * _token_bytes(stage, load, is_expert=False, is_selective=True)
        each += stage.expert_layers * _token_bytes(stage, load, is_expert=True, is_selective=True)
    else:
        each = sum(calls * one for calls, one in whole)
    in_flight = min(load.pp, load.microbatches)
    ahead = 1 + (load.pp - 1) / (load.pp * load.virtual) if load.virtual > 1 else 1.0
    return each * load.rows / load.microbatches * in_flight * ahead


def _token_bytes(
    model: ModelConfig, load: Workload, *, is_expert: bool, is_selective: bool
) -> float:
    """Activations of one token and layer on one rank."""
    tp = load.tp
    heads = model.heads / tp
    passed = (2 if is_selective else 4) * model.hidden / (tp if load.sequence_parallel else 1)
    kept = 2 if is_selective or not model.gated else 3  # without the product of gate and up
    if is_expert:
        width = model.active_experts + model.shared_experts
        mlp = kept * width * model.expert_width / tp + model.active_experts * model.hidden
    else:
        mlp = kept * model.mlp / tp
    elements = passed + _attention_elements(model, tp) + mlp
    return elements * bytes_per_element(load.activations) + _SUM_BYTES * heads


_SUM_BYTES = 4  # the logarithm of the sum of a softmax


def _attention_elements(model: ModelConfig, tp: int) -> float:
    """Queries, keys, values and the result; of latent attention its compressed ones, too."""
    heads = model.heads / tp
    if not model.is_latent:
        return (2 * heads + 2 * max(model.kv_heads / tp, 1)) * model.head_size
    keys = model.head_without_position + model.head_with_position
    compressed = 2 * model.q_rank + 2 * model.kv_rank + model.head_with_position
    wide = keys + model.head_without_position + 2 * model.value_head
    return compressed + heads * wide


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
