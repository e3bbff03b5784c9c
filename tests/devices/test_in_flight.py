"""Little's law: what a memory needs under way, and what a launch with few threads reaches of it."""

import pytest

from roofline.devices.catalogue import part, parts
from roofline.devices.in_flight import Launch, cells_of, in_flight
from roofline.estimate.on_device import MEMORY, estimate
from roofline.estimate.ops import Options
from tests.narrowing import known


def test_the_table_is_latency_times_bandwidth() -> None:
    """478.8 cycles at 1.755 GHz are 272.8 ns; times 3,350 GB/s 914 kB; over 132 SMs 6.92 kB, 433
    loads of 16 bytes, 0.85 for each of 512 threads. L2: 149.9 ns times 8,986 GB/s."""
    main, l2, _ = in_flight(known(part("h100-sxm")))
    assert cells_of(main) == ("HBM", "273 ns", "914 kB", "6.92 kB", "433", "0.85")
    assert l2.bytes == pytest.approx(149.9e-9 * 8_986e9)


@pytest.mark.parametrize(("threads", "size", "share"), [(3072, 4, 0.0134), (64 * 132, 4, 0.037)])
def test_few_threads_reach_a_part_of_the_bandwidth(threads: int, size: float, share: float) -> None:
    """12,288 of 913,880 bytes; 64 threads on each of 132 SMs: 33,792 of them."""
    options = Options(threads=threads, load_bytes=size)
    short, full = (
        estimate("elementwise", "4096x4096", "h100-sxm", one) for one in (options, Options())
    )
    ratio = known(short.peaks[MEMORY].value) / known(full.peaks[MEMORY].value)
    assert ratio == pytest.approx(share, rel=0.01)
    assert f"at most {100 * share:.1f} % of its bandwidth" in short.notes[0]
    assert "loads in flight" in short.peaks[MEMORY].label


def test_enough_threads_change_no_time_and_an_unknown_latency_no_bound() -> None:
    plain = estimate("softmax", "8192x4096", "h100-sxm")
    full = estimate("softmax", "8192x4096", "h100-sxm", Options(threads=132 * 2048))
    assert full.time_us == plain.time_us
    assert "enough" in full.notes[0]
    unknown = estimate("softmax", "8192x4096", "mi300x", Options(threads=64))
    assert unknown.time_us == estimate("softmax", "8192x4096", "mi300x").time_us
    assert "no latency of its memory is known" in unknown.notes[0]


def test_no_launch_is_faster_than_its_memory() -> None:
    for one in parts():
        for need in in_flight(one):
            rates = [Launch(threads=2**at).rate(need) for at in range(25)]
            assert rates == sorted(rates)
            assert rates[-1] == need.bytes_per_s
