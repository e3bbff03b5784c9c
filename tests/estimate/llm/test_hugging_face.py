"""Models from a Hugging Face `config.json`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from roofline.devices.choice import known_part
from roofline.errors import BadViewError
from roofline.estimate.llm.config import ModelConfig, config_of, preset, read_config
from roofline.estimate.llm.ops import forward
from roofline.estimate.llm.step import step_of
from roofline.estimate.llm.workload import Workload

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
QWEN_MOE = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "mlp_only_layers": [],
    "decoder_sparse_step": 1,
    "sliding_window": None,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
}
GEMMA = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 5376,
        "num_hidden_layers": 62,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "intermediate_size": 21504,
        "sliding_window": 1024,
        "vocab_size": 262144,
    },
    "vision_config": {"hidden_size": 1152},
}
GPT_OSS = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "num_hidden_layers": 24,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "attention_bias": True,
    "intermediate_size": 2880,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "vocab_size": 201088,
}
MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "sliding_window": None,
    "vocab_size": 32000,
}


def sizes(model: ModelConfig) -> ModelConfig:
    """Without where it is from."""
    return replace(model, source="")


@pytest.mark.covers(151)
@pytest.mark.parametrize(
    ("content", "name"),
    [
        (LLAMA, "llama-3-8b"),
        (QWEN_MOE, "qwen3-30b-a3b"),
        (DEEPSEEK, "deepseek-v3"),
        (GEMMA, "gemma-3-27b"),
        (GPT_OSS, "gpt-oss-20b"),
        (MIXTRAL, "mixtral-8x7b"),
    ],
)
def test_a_config_gives_the_sizes_of_its_preset(content: dict[str, object], name: str) -> None:
    assert sizes(config_of(content)) == sizes(preset(name))


def test_defaults_stand_in_for_missing_keys() -> None:
    less = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    found = config_of(less)
    assert (found.kv_heads, found.head_size, found.tied) == (32, 128, False)
    assert config_of({**LLAMA, "head_dim": None}).head_size == 128
    assert config_of({**LLAMA, "head_dim": 64}).head_size == 64
    assert config_of({**LLAMA, "tie_word_embeddings": True}).tied


def test_published_configs_of_gemma_3_leave_the_defaults_of_their_class_out() -> None:
    """google/gemma-3-4b-it has these five keys, and 27B no vocabulary."""
    small = {
        "model_type": "gemma3_text",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    }
    found = config_of({"model_type": "gemma3", "text_config": small})
    assert (found.heads, found.kv_heads, found.head_size) == (8, 4, 256)
    assert (found.vocabulary, found.windowed_layers) == (262_208, 29)
    assert found.parameters == 3_880_263_168


def test_latent_attention_without_compressed_queries() -> None:
    """DeepSeek-V2-Lite: 15.7 billion parameters as published."""
    lite = {
        **DEEPSEEK,
        "model_type": "deepseek_v2",
        "hidden_size": 2048,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "intermediate_size": 10944,
        "moe_intermediate_size": 1408,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "num_experts_per_tok": 6,
        "first_k_dense_replace": 1,
        "q_lora_rank": None,
        "vocab_size": 102400,
    }
    model = config_of(lite)
    assert model.parameters == 15_706_484_224
    ops = {op.name: op for op in forward(model, Workload(cached=99))}
    assert ops["q_proj"].matrix == 2 * 2048 * 16 * 192
    assert not {"q_a_proj", "q_a_norm", "q_b_proj"} & set(ops)


def test_dense_layers_lie_before_and_between_those_of_experts() -> None:
    assert config_of({**DEEPSEEK, "moe_layer_freq": 1}).dense_layers == 3
    assert config_of({**DEEPSEEK, "moe_layer_freq": 2}).dense_layers == 3 + 29


def test_windows_by_type_list_and_pattern() -> None:
    mistral = {**LLAMA, "model_type": "mistral", "sliding_window": 4096}
    assert (config_of(mistral).window, config_of(mistral).windowed_layers) == (4096, 32)
    assert config_of({**mistral, "sliding_window": None}).window == 0
    qwen = {**LLAMA, "model_type": "qwen2", "sliding_window": 1024, "max_window_layers": 28}
    assert config_of({**qwen, "use_sliding_window": False}).window == 0
    assert config_of({**qwen, "use_sliding_window": True}).windowed_layers == 4
    unlisted = {key: value for key, value in GPT_OSS.items() if key != "layer_types"}
    assert config_of(unlisted).windowed_layers == 12


def test_a_step_says_that_the_config_stores_its_weights_in_fewer_bits() -> None:
    model = config_of({**DEEPSEEK, "quantization_config": {"quant_method": "fp8"}})
    part = known_part("h200")
    (note,) = step_of(model, Workload(cached=99), part).notes
    assert "stored as fp8, but this step counts bf16" in note
    assert not step_of(model, Workload(cached=99, weights="fp8:b128"), part).notes
    assert not config_of({**DEEPSEEK, "quantization_config": None}).stored


def test_biases_count_among_the_parameters() -> None:
    plain, biased = config_of(LLAMA), config_of({**LLAMA, "model_type": "qwen2"})
    assert biased.parameters - plain.parameters == 32 * (32 + 2 * 8) * 128


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "JSON object"),
        ({}, "model_type is missing"),
        ({**LLAMA, "model_type": "mamba"}, '"mamba"'),
        ({**LLAMA, "model_type": ["llama"]}, "model_type"),
        ({key: value for key, value in LLAMA.items() if key != "vocab_size"}, '"vocab_size"'),
        ({**LLAMA, "hidden_size": 0}, '"hidden_size"'),
        ({**LLAMA, "hidden_size": "many"}, '"hidden_size"'),
        ({**LLAMA, "num_hidden_layers": 10**8}, '"num_hidden_layers"'),
        ({**LLAMA, "num_key_value_heads": 5}, '"num_key_value_heads"'),
        ({k: v for k, v in DEEPSEEK.items() if k != "q_lora_rank"}, '"q_lora_rank"'),
        ({**GPT_OSS, "layer_types": ["full_attention"]}, '"layer_types"'),
        ({**MIXTRAL, "num_experts_per_tok": 9}, '"num_experts_per_tok"'),
        ({**LLAMA, "head_dim": None, "num_attention_heads": 8192}, '"num_attention_heads"'),
    ],
)
def test_what_cannot_be_read_is_named(content: object, said: str) -> None:
    with pytest.raises(BadViewError) as error:
        config_of(content)
    assert said in error.value.message


def test_files_are_read_and_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert read_config(path).parameters == 8_030_261_248
    path.write_text("{")
    with pytest.raises(BadViewError, match="not JSON"):
        read_config(path)
    with pytest.raises(BadViewError, match="cannot be read"):
        read_config(tmp_path / "none.json")
