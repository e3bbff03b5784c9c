"""Groups of devices, worked by hand: three levels, odd axes, experts over nodes, few bytes."""

from typing import Any

import pytest

from roofline.devices.catalogue import part as part_of
from roofline.devices.choice import known_part
from roofline.devices.topology import NetworkChoice, Topology, of_measured, topology
from roofline.estimate.llm.config import preset
from roofline.estimate.llm.request import PredictOptions, workload
from roofline.estimate.llm.serving import request_of
from roofline.estimate.llm.step import TimedOp, step_of
from tests.narrowing import known

S = 256e6  # bytes


def of(part: str, ranks: int | None = None, **choice: Any) -> Topology:
    return topology(known(part_of(part)), NetworkChoice(**choice), ranks)


def ops(model: str, device: str, **options: Any) -> dict[str, TimedOp]:
    found = step_of(preset(model), workload(PredictOptions(**options)), known_part(device))
    return {timed.op.name: timed for timed in found.ops}


def test_two_slices_add_up_inside_and_then_over_the_network() -> None:
    """512 v5e are two slices of 16 x 16 rings: links of 50 GB/s, 3.125 GB/s of network per chip.

    Inside 2 · 255/256 · S over 2 rings of 2 links, 200 GB/s: 2,550 us. Between the slices each
    chip has 1/256 of it: 2 · 1/2 · 1 MB / 3.125 GB/s = 320 us, at the same time. Hops: 2 · (8 + 8)
    of 1 us and 2 of 2.7. One after the other: 2,870 us and the hops.
    """
    found = of("tpu-v5e").time("all-reduce", S, 512)
    assert found.link_us == pytest.approx(2550)
    assert found.network_us == pytest.approx(320)
    assert found.latency_us == pytest.approx(32 + 5.4)
    assert found.serial_us == pytest.approx(2870 + 37.4)
    assert [one.ranks for one in found.levels] == [16, 16, 2]


def test_replicas_share_slices_with_the_groups_inside_them() -> None:
    """1,024 v5e as tp 16 and dp 64: a slice of 256 has 16 replicas, so dp has 16 ranks on the
    second axis and 4 slices. Inside 2 · 15/16 · S / 100 GB/s = 4,800 us; over the network
    2 · 3/4 · S/16 / 3.125 GB/s = 7,680 us. Hops 2 · 8 us and 2 · 2.7."""
    options: dict[str, Any] = {"phase": "train", "seq": 128, "tp": 16, "dp": 64, "batch": 1}
    sent = ops("llama-3-8b", "tpu-v5e", **options)["dp_allreduce"]
    payload = known(sent.op.sent).payload
    assert sent.clocks_us["link"] == pytest.approx(payload / S * 4800)
    assert sent.clocks_us["network"] == pytest.approx(payload / S * 7680)
    assert sent.latency_us == pytest.approx(16 + 5.4)


def test_a_slice_that_holds_one_replica_leaves_the_others_to_the_network() -> None:
    """tp 16 on slices of 4 x 4: the 64 replicas have one rank per slice, 2 · 63/64 · S over
    3.125 GB/s = 161,280 us."""
    options: dict[str, Any] = {"phase": "train", "seq": 128, "tp": 16, "dp": 64, "axes": "4x4"}
    sent = ops("llama-3-8b", "tpu-v5e", **options)["dp_allreduce"]
    assert sent.clocks_us["link"] == 0
    assert sent.clocks_us["network"] == pytest.approx(known(sent.op.sent).payload / S * 161_280)


def test_an_exchange_over_two_slices_leaves_with_half_of_its_bytes() -> None:
    """512 v5e: 256/512 of a rank's buffer stays in its slice, on the busiest axis 16/8 · S/2 /
    50 GB/s = 5,120 us; the other half leaves, S/2 / 3.125 GB/s = 40,960 us."""
    found = of("tpu-v5e").time("all-to-all", S, 512)
    assert found.link_us == pytest.approx(5120)
    assert found.network_us == pytest.approx(40_960)


def test_a_rack_of_72_has_nine_replicas_of_eight() -> None:
    """tp 8, dp 18 on GB200: 9 ranks of dp in a rack, 2 racks. Inside 2 · 8/9 · S / 900 GB/s =
    505.68 us; S/9 over 50 GB/s twice by half: 568.89 us. Hops 2 · (0.6 + 2.7)."""
    found = of("gb200", 144).time("all-reduce", S, 18, stride=8)
    assert found.link_us == pytest.approx(2 * 8 / 9 * 256 / 0.9)
    assert found.network_us == pytest.approx(256 / 9 / 0.05)
    assert found.latency_us == pytest.approx(6.6)


@pytest.mark.parametrize(
    ("axes", "wrap", "kind", "us", "hops"),
    [
        # rings of 3 and 5: the longer one, (25 - 1) / 40 · S / 100 GB/s; 1 + 2 hops
        ("3x5", "all", "all-to-all", 0.6 * 2560, 3),
        # lines of 3 and 5: 2 · 3 / 5 · S / 100 GB/s; 2 + 4 hops
        ("3x5", "none", "all-to-all", 1.2 * 2560, 6),
        # 14/15 of S over two rings of two links
        ("3x5", "all", "all-gather", 14 / 15 / 4 * 2560, 3),
        # a ring of 7 and a line of 2: three links; 2 · 13/14, and hops there and back
        ("2x7", "all", "all-reduce", 2 * 13 / 14 / 3 * 2560, 8),
        # one ring of 9: (81 - 1) / 72
        ("9", "all", "all-to-all", 80 / 72 * 2560, 4),
    ],
)
def test_odd_axes(axes: str, wrap: str, kind: str, us: float, hops: float) -> None:
    """TPU v5p, 100 GB/s a link: S / W = 2,560 us."""
    ranks = {"3x5": 15, "2x7": 14, "9": 9}[axes]
    found = of("tpu-v5p", ranks, axes=axes, wrap=wrap).time(kind, S, ranks)
    assert found.link_us == pytest.approx(us)
    assert found.latency_us == hops


def test_experts_over_four_nodes_send_a_copy_for_each_expert() -> None:
    """DeepSeek-V3, decode of 32 rows, 32 ranks on H100: 32 · 8 · 7,168 · 2 B = 3,670,016 B leave
    a rank; 24 of 32 parts over 50 GB/s = 55.05 us, 7 of 32 over 450 GB/s = 1.784 us; 2.7 us."""
    sent = ops("deepseek-v3", "h100-sxm", phase="decode", context=4096, batch=32, ep=32)
    found = sent["ep_dispatch"]
    assert found.clocks_us["network"] == pytest.approx(3_670_016 * 24 / 32 / 50e3)
    assert found.clocks_us["link"] == pytest.approx(3_670_016 * 7 / 32 / 450e3)
    assert found.time_us == pytest.approx(55.050 + 2.7, abs=0.001)


def test_prefill_sends_a_token_once_to_each_node() -> None:
    """4,096 tokens of 7,168 · 2 B are 58,720,256 B. Of 3 other nodes a token's 8 experts reach
    1 - (3/4)^8 = 0.8999 each: 158.52 MB over 50 GB/s = 3,170 us. Inside 31 · (1 - (31/32)^8) ·
    7/8 = 6.083 of it: 357.2 MB over 450 GB/s = 793.8 us."""
    found = ops("deepseek-v3", "h100-sxm", phase="prefill", seq=4096, ep=32)["ep_dispatch"]
    assert found.clocks_us["network"] == pytest.approx(3170.5, rel=1e-4)
    assert found.clocks_us["link"] == pytest.approx(793.8, rel=1e-3)


def test_four_of_eight_on_a_mesh_have_three_links_each() -> None:
    """MI300X: 3 links of 64 GB/s; an exchange of 4 sends 3/4 · S over 192 GB/s = 1,000 us, a send
    has one link: 4,000 us."""
    found = of("mi300x", 4)
    assert found.time("all-to-all", S, 4).link_us == pytest.approx(1000)
    assert found.time("permute", S, 4).link_us == pytest.approx(4000)


def test_few_bytes_take_their_latency() -> None:
    """16 B on 64 H100: two hops of 0.6 and of 2.7 us, bytes less than a nanosecond. In a library
    6.8 + 2 · (7 · 0.6 + 3 · 5.0) = 45.2 us. 72 of one rack: 6.6 + 2 · 71 · 0.6 is more than the 23
    of a switch that adds; 8 of one node: 6.6 + 14 · 0.6 = 15.0."""
    assert of("h100-sxm", 64).time("all-reduce", 16, 64).time_us == pytest.approx(6.6, rel=1e-3)
    library = {"latency": "library"}
    for part, ranks, us in (("h100-sxm", 64, 45.2), ("gb200", 72, 23.0), ("h100-sxm", 8, 15.0)):
        found = of(part, ranks, **library).time("all-reduce", 16, ranks)
        assert found.time_us == pytest.approx(us, rel=1e-3), part


def test_rings_of_context_and_stages_leave_their_node() -> None:
    """tp 8 fills a node of H100, so 4 context ranks are in 4 nodes: keys and values of 2,048
    tokens, 2 · 2,048 · 1 · 128 · 2 B = 1,048,576 B / 50 GB/s = 20.97 us + 2.7. Two stages of tp 8
    are two nodes: 8,192 · 4,096 · 2 B = 67,108,864 B / 50 GB/s = 1,342.2 us + 2.7."""
    ring = ops("llama-3-8b", "h100-sxm", phase="prefill", seq=8192, tp=8, cp=4)["cp_exchange"]
    assert ring.time_us == pytest.approx(20.97 + 2.7, abs=0.01)
    stages = ops("llama-3-8b", "h100-sxm", phase="prefill", seq=8192, tp=8, pp=2)["pp_send"]
    assert stages.time_us == pytest.approx(1342.18 + 2.7, abs=0.01)


def test_a_request_with_guesses_by_hand() -> None:
    """63 further tokens, 4 checked at once, half of the guesses right: 1 + 1/2 + 1/4 + 1/8 = 1.875
    stay, so 34 steps. Weights are read once for 4 tokens: a step is about as long as one for one
    token, and decode nearly 1.875 times as fast."""
    given = PredictOptions(phase="request", prompt=512, output=64, new_tokens=4, acceptance=0.5)
    found = request_of(preset("llama-3-8b"), given, known_part("h100-sxm"))
    decode = known(found.decode)
    assert (decode.steps, found.kept) == (34, 1.875)
    assert known(found.tpot_us) * 63 == pytest.approx(decode.serial_us)
    assert 1.8 < known(found.speedup) < 1.875
    assert found.latency_us == pytest.approx(found.ttft_us + decode.serial_us)


@pytest.mark.parametrize("phase", ["decode", "request"])
def test_chunks_of_layers_serve_too(phase: str) -> None:
    """Thresholds, levers and the slots of a server ask for other batches than the schedule's."""
    sizes = {"context": 64} if phase == "decode" else {"prompt": 64, "output": 4}
    given: dict[str, Any] = {"pp": 2, "virtual": 2, "batch": 4, "microbatches": 4, **sizes}
    options = PredictOptions(phase=phase, **given)
    if phase == "request":
        found = request_of(preset("llama-3-8b"), options, known_part("h100-sxm"))
        assert known(found.continuous_tokens_per_s) > 0
    else:
        assert ops("llama-3-8b", "h100-sxm", phase=phase, **given)["pp_send"].counted == 8


def test_two_cores_of_a_chip_share_its_links() -> None:
    """TPU7x shows 2 devices per chip: 8 of them are 4 chips, 1 x 2 x 2 without rings. S goes
    2 · 3/4 · S over 2 links of 100 GB/s = 1,920 us; a rank's bytes on the wire are 2 · 7/8 · S,
    so 233.3 GB/s. The two cores of one chip use no link."""
    chips = of_measured(known_part("tpu-v7x"), NetworkChoice(), None, 2)
    rate, hops = known(chips.on_the_wire("all-reduce", 8))
    assert rate == pytest.approx(2 * 7 / 8 * 256 / 1920 * 1e3)
    assert hops == 4
    assert chips.on_the_wire("all-reduce", 2) is None
    assert chips.on_the_wire("all-reduce", 7) is None
    assert chips.in_words == "the most even slice, 2 devices on each chip (assumed)"
    both = known(chips.on_the_wire("all-to-all", 8))[0]  # two buffers of a chip, an axis of 2
    assert both == pytest.approx(7 / 8 * 256 / (2 * 0.5 * 2560) * 1e3)
