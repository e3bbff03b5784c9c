"""Ranks wait for each other inside their collectives: the shortest time is the transfer's."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofline.analysis.time_records import TransferRecord
from roofline.devices.choice import PeakChoice
from roofline.devices.resolve import resolve
from roofline.importers.shared.join_timelines import with_least
from roofline.model.memory import MemoryLevel
from roofline.model.timeline import EachTransfer, Transfers, no_transfers
from tests.builders import analysis_on
from tests.importers.kineto_profiles import profile_of
from tests.tools.make_kineto_traces import COMMUNICATION_STREAM, KinetoTrace

MIB = 2**20


def rank(number: int, *lasts_us: float, group: int = 2) -> KinetoTrace:
    """All-reduces of 1 MiB in one rank of two."""
    trace = KinetoTrace()
    trace.header["distributedInfo"] = {"backend": "nccl", "rank": number, "world_size": 2}
    for lasts in lasts_us:
        about: dict[str, Any] = {
            "Collective name": "allreduce",
            "In msg nelems": MIB // 4,
            "dtype": "Float",
        }
        trace.launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            lasts,
            stream=COMMUNICATION_STREAM,
            **{**about, "Out msg nelems": MIB // 4, "Group size": group},
        )
    return trace


def transfer(folder: Path, *ranks: KinetoTrace) -> TransferRecord:
    profile = profile_of(folder, *ranks)
    device = resolve(profile.device, choice=PeakChoice(gbs={MemoryLevel.NVLINK: 450.0}))
    (row,) = analysis_on(profile, device).transfers.rows
    return row


def test_time_beyond_the_shortest_is_skew(tmp_path: Path) -> None:
    row = transfer(tmp_path, rank(0, 10, 50, 30), rank(1, 40, 20, 30))
    assert row.skew_us == pytest.approx(30 + 30)
    assert row.time_us == pytest.approx(180)
    assert row.bytes == 6 * MIB  # 2 (n - 1) / n of 1 MiB each, and n is 2
    assert row.achieved_gbs == pytest.approx(6 * MIB / (2 * 60e-6) / 1e9)


@pytest.mark.parametrize(
    "ranks",
    [
        [rank(0, 10, 50)],  # the other rank is not there
        [rank(0, 10, 50), rank(1, 40)],  # it did not run as often
        [rank(0, 10, 50, group=8), rank(1, 40, 20, group=8)],  # others are in the group
    ],
)
def test_skew_is_not_known_without_all_ranks(tmp_path: Path, ranks: list[KinetoTrace]) -> None:
    row = transfer(tmp_path, *ranks)
    assert row.skew_us is None
    assert row.achieved_gbs is not None
    assert row.bytes is not None
    assert row.achieved_gbs == pytest.approx(row.bytes / row.time_us / 1e3)


def transfers(times: Sequence[Sequence[float]]) -> Transfers:
    each = [(core, time) for core, column in enumerate(times) for time in column]
    return Transfers(
        op=np.zeros(1, np.int64),
        done=np.full(1, -1),
        kind=("all-reduce",),
        link=(None,),
        group_size=np.array([len(times)]),
        unpaired=np.zeros(1, np.bool_),
        occurrences=no_transfers().occurrences,
        each=EachTransfer(
            transfer=np.zeros(len(each), np.int64),
            core=np.array([core for core, _ in each], np.int64),
            time_ps=np.array([time for _, time in each], np.float64),
        ),
    )


TIMES = st.floats(1, 1e9)


@given(st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(TIMES, min_size=3, max_size=3),
                                                    min_size=n, max_size=n)))  # fmt: skip
def test_least_is_the_sum_of_the_shortest(times: list[list[float]]) -> None:
    found = with_least(transfers(times), len(times)).least_ps
    assert found is not None
    assert found[0] == pytest.approx(sum(map(min, zip(*times, strict=True))))
