"""The first lines of a page: word for word on real profiles, and form by form on small ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from roofline.analysis.records import RooflineAnalysis
from roofline.analysis.subjects.choose import choose
from roofline.analysis.subjects.records import Kind, Outside, Sample, Subject
from roofline.devices.choice import PeakChoice
from roofline.model.memory import MemoryLevel
from roofline.pipeline import analyse_files
from roofline.presentation.goal import First, Form, Goal, form_of, goal
from roofline.presentation.goal_numbers import Scale
from roofline.presentation.quantities import NARROW, SPACE
from roofline.presentation.sentences import Segment, Sentence, plain_text, say
from roofline.presentation.verdict import hint_of, standing
from tests.shared_profiles import SHARED, needs_shared, shared
from tests.subject_by_hand import subject_of


def text(sentence: Sentence) -> str:
    """A sentence with plain spaces."""
    return plain_text(sentence).replace(SPACE, " ").replace(NARROW, " ")


def below(sentences: Sequence[Sentence]) -> str:
    """The sentences of the third line."""
    return " ".join(map(text, sentences))


def goal_of(analysis: RooflineAnalysis, first: First | None = None) -> Goal:
    subject = choose(analysis)
    return goal(subject, first, hint_of(analysis.profile, form_of(subject)))


PYTORCH, NCU = "samples/pytorch/", "samples/nsight_compute/"
HEADLINES = {
    (f"{PYTORCH}h100_qwen_causal.json.gz",): "34.9 ms a step; 17.2 would do.",
    (f"{PYTORCH}mi300x_qwen_causal.json.gz",): "33.1 ms a step; 11.6 would do.",
    (
        f"{PYTORCH}mi300x_sglang_capture.json.gz",
        f"{PYTORCH}mi300x_sglang_decode.json.gz",
    ): "10.5 ms a decode step; 3.9 would do.",
    (
        f"{PYTORCH}mi300x_vllm_graph_capture.json.gz",
        f"{PYTORCH}mi300x_vllm_graph_decode.json.gz",
    ): "10.7 ms a decode step; 3.6 would do.",
    (
        f"{PYTORCH}b200_vllm_eager.json.gz",
    ): "73.6 ms a prefill step, 62.0 of them waiting for the host; 7.1 would do.",
    (
        f"{PYTORCH}nccl_message_sizes.json.gz",
    ): "220 ms a step, 167 of them waiting for the host; 39 might do.",
    (f"{PYTORCH}a100_no_shapes.json.gz",): "347 ms a step; the cost of 124 of them is not known.",
    (
        f"{PYTORCH}sampled_rank-0.json.gz",
    ): "611 ms a step. Choose the device to see what it could take.",
    (
        f"{PYTORCH}v100_kineto_2021_resnet.json.gz",
    ): "147 ms a step. Choose the device to see what it could take.",
    (
        f"{PYTORCH}mtia_inference.json.gz",
    ): "341 ms of the host were recorded, and nothing of the device.",
    (
        f"{PYTORCH}a100_launches_without_kernels.json.gz",
    ): "75.5 ms of the host were recorded, and nothing of the device.",
    (
        f"{NCU}a40_2022.1_imma_indexspaces-74de19f.ncu-rep",
    ): "9.43 ms of kernel time; 5.27 would do.",
    (f"{NCU}a10g_2023.1_roofline_x512_esmm.ncu-rep",): "1.21 ms of kernel time; 0.32 would do.",
    (
        "samples/rocprof_compute/vcopy_MI200/pmc_perf.csv",
    ): "52.3 µs of kernel time. Choose the device to see what it could take.",
    (
        "profiles/tpu-v6e-inference/host_0.xplane.pb",
    ): "78.8 s, 76.0 of them waiting for host transfers; 50.3 would do.",
    (
        "profiles/tpu-v5p-training-golden/reference.json",
    ): "97.7 ms a step; 51.4 would do, including all time of 2 operations with impossible numbers.",
    (
        "profiles/gpu-v100-tf-multiworker/host_0.xplane.pb",
    ): "20.6 ms a step; the cost of 14.8 of them is not known.",
    (
        "profiles/amd-mi300x-conv-jax08/host_0.xplane.pb",
    ): "98.5 ms, 94.7 of them waiting for the host; 1.7 would do.",
}
DO_FIRST = {
    f"{PYTORCH}sampled_rank-0.json.gz": "The device waits 181 ms for the host, "
    "168 for other ranks. "
    "Nothing ran for 156 ms, and the file does not say why.",
    f"{PYTORCH}v100_kineto_2021_resnet.json.gz": "The device waits 42 ms for the host.",
    f"{PYTORCH}mtia_inference.json.gz": "Record the device too.",
    f"{PYTORCH}a100_launches_without_kernels.json.gz": "Record the device too: "
    "`activities=[CPU, CUDA]`.",
    "profiles/gpu-v100-tf-multiworker/host_0.xplane.pb": "Keep the `/host:metadata` plane in the "
    "capture. The device waits 2.6 ms for the host. "
    "Nothing ran for 3.1 ms, and the file does not say why.",
    "samples/rocprof_compute/vcopy_MI200/pmc_perf.csv": "",
}


@needs_shared
@pytest.mark.parametrize(("files", "said"), HEADLINES.items(), ids=[k[0] for k in HEADLINES])
def test_headlines_of_real_profiles(files: tuple[str, ...], said: str) -> None:
    assert text(goal_of(shared(*files)).headline) == said


@needs_shared
def test_numbers_of_a_processor_that_cannot_all_be_right() -> None:
    """This machine's caches make its memory seem faster than it is."""
    choice = PeakChoice(gflops={None: 22.6}, gbs={MemoryLevel.DRAM: 9.6})
    file = SHARED / "profiles/jax-cpu-transformer/host_0.xplane.pb"
    found = goal_of(analyse_files([file], choice=choice))
    assert text(found.headline) == (
        "127 ms a step. Its numbers cannot all be right, so there is no goal."
    )
    assert text(found.do_first) == ("Do first: measure this machine's peaks, `roofline calibrate`.")


@needs_shared
@pytest.mark.parametrize(("file", "said"), DO_FIRST.items(), ids=list(DO_FIRST))
def test_what_to_do_first_without_a_finding(file: str, said: str) -> None:
    assert text(goal_of(shared(file)).do_first) == said


@pytest.mark.covers(3, 111)
@needs_shared
def test_the_third_line_of_real_profiles() -> None:
    h100 = shared(f"{PYTORCH}h100_qwen_causal.json.gz")
    bound = [Segment(kind="bound", text="mostly HBM-bound")]
    assert below(standing(choose(h100), goal_of(h100), bound)) == (
        "At 54 % of the roof, mostly HBM-bound. 14.8 ms lie outside the step."
    )
    b200 = shared(f"{PYTORCH}b200_vllm_eager.json.gz")
    assert below(standing(choose(b200), goal_of(b200))) == (
        "The cost of 6.5 ms is not known. 10.9 ms lie outside the step."
    )
    v5p = shared("profiles/tpu-v5p-training-golden/reference.json")
    assert below(standing(choose(v5p), goal_of(v5p))) == (
        "At 54 % of the roof (88 % known). The device waits 11.7 ms for links."
    )


# --------------------------------------------------------------------------------- by hand, in ms


FORMS = [
    (Form.NOTHING, subject_of(ops=0), "No operation was recorded."),
    (
        Form.HOST,
        subject_of(unknown=341, kind=Kind.HOST, unit_word="of the host", floor_us=None),
        "341 ms of the host were recorded, and nothing of the device.",
    ),
    (
        Form.POINTS,
        subject_of(ops=2, kind=Kind.KERNELS, label="2 kernels", unit_word="of kernel time"),
        "Two kernels without times: the chart shows where they could lie.",
    ),
    (
        Form.POINTS,
        subject_of(ops=1, kind=Kind.KERNELS, label="1 kernel", unit_word="of kernel time"),
        "One kernel without a time: the chart shows where it could lie.",
    ),
    (
        Form.NO_PEAKS,
        subject_of(unknown=147, has_ceilings=False),
        "147 ms a step. Choose the device to see what it could take.",
    ),
    (
        Form.DOUBT,
        subject_of(10, 10, 0, 107.2),
        "127 ms a step. Its numbers cannot all be right, so there is no goal.",
    ),
    (
        Form.DOUBT_PARTLY,
        subject_of(40, 40, 0, 6),
        "86.0 ms a step; 46.0 would do, including all time of 1 operation with impossible numbers.",
    ),
    (
        Form.WAITS,
        subject_of(1, 1, 0, 0, input=9),
        "11.0 ms a step, 9.0 of them waiting for input; 1.0 would do.",
    ),
    (
        Form.WAITS,
        subject_of(1, 1, 0, 0, links={"ici": 3, "dcn": 6}, link_need_us=1),
        "11.0 ms a step, 9.0 of them waiting for links; 1.0 would do.",
    ),
    (
        Form.WAITS,
        subject_of(0.001, 0, 0, 0, transfers=9, link_need_us=1),
        "9.00 ms a step, 9.00 of them waiting for host transfers; less than 0.01 would do.",
    ),
    (
        Form.WAITS,  # 1.0 ms would not do: the transfers need some of the 9.0
        subject_of(1, 1, 0, 0, transfers=9),
        "11.0 ms a step, 9.0 of them waiting for host transfers, whose peak is not known.",
    ),
    (
        Form.UNEXPLAINED,
        subject_of(1, 1, 0, 0, unknown_wait=9),
        "11.0 ms a step; nothing ran for 9.0 of them, and the file does not say why.",
    ),
    (
        Form.GOAL,
        subject_of(3, 3, 0, 0, host_wait=2, unknown_wait=3),
        "11.0 ms a step; 3.0 might do.",
    ),
    (
        Form.UNKNOWN,
        subject_of(10, 10, 30, 0, host_wait=20),
        "70.0 ms a step; the cost of 30.0 of them is not known.",
    ),
    (
        Form.UNKNOWN,
        subject_of(0, 0, 30, 0),
        "30.0 ms a step; the cost is not known.",
    ),
    (
        Form.DONE,
        subject_of(9.6, 0.6),
        "10.2 ms a step, and 9.6 is the least it can take.",
    ),
    (
        Form.DONE,
        subject_of(9.99, 0.001, assumed=3),
        "9.99 ms a step, and 9.99 may be the least it can take.",
    ),
    (
        Form.GOAL,
        subject_of(9.6, 0.6, assumed=3),
        "10.2 ms a step; 9.6 might do.",
    ),
    (
        Form.UNCOUNTED,
        subject_of(9.6, 0.6, assumed=9.6, roof_ratio=None),
        "10.2 ms a step; how much of it is useful work was not counted.",
    ),
    (
        Form.UNCOUNTED,
        subject_of(0.08, 6.06, assumed=0.08, roof_ratio=None),
        "6.14 ms a step; how much of it is useful work was not counted.",
    ),
    (Form.GOAL, subject_of(50, 30, 11), "91.0 ms a step; 61.0 might do."),
    (Form.GOAL, subject_of(50, 38, 3), "91.0 ms a step; 53.0 would do."),
]


@pytest.mark.parametrize(("form", "subject", "said"), FORMS, ids=[one[2][:40] for one in FORMS])
def test_each_form(form: Form, subject: Subject, said: str) -> None:
    found = goal(subject, None)
    assert (found.form, text(found.headline)) == (form, said)


@pytest.mark.parametrize(
    ("time_us", "said"),
    [
        (0.1, "100 ns"),
        (52.34, "52.3 µs"),
        (999.6, "1.00 ms"),
        (1_211.3, "1.21 ms"),
        (9_994.0, "9.99 ms"),
        (9_996.0, "10.0 ms"),
        (99_400.0, "99.4 ms"),
        (99_600.0, "100 ms"),
        (78_779_621.0, "78.8 s"),
        (5_195_073_488.0, "5,195 s"),
    ],
)
def test_a_time_has_three_digits(time_us: float, said: str) -> None:
    assert Scale.of(time_us).length(time_us).replace(SPACE, " ") == said


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (First("Fuse Qwen2RMSNorm", 5_738.5), "Do first: fuse Qwen2RMSNorm, −5.7 ms."),
        (First("Launch ahead", 62_284, is_most=True), "Do first: launch ahead, up to −62 ms."),
        (First("MLP in fp8", 684), "Do first: MLP in fp8, −0.68 ms."),
        (First("Record shapes", None), "Do first: record shapes."),
    ],
)
def test_the_first_finding(first: First, said: str) -> None:
    assert text(goal(subject_of(50, 40), first).do_first) == said


def test_what_helps_without_a_finding() -> None:
    said = {
        Form.DOUBT: "Do first: measure this machine's peaks, `roofline calibrate`.",
        Form.DONE: "Only less work or other hardware helps.",
        Form.HOST: "Record the device too.",
        Form.UNKNOWN: "Record what the operations compute and move.",
        Form.UNCOUNTED: "Record what the operations compute and move.",
        Form.GOAL: "",
        Form.NOTHING: "",
    }
    for form, subject, _ in FORMS:
        if form in said and subject.parts.idle == 0:
            assert text(goal(subject, None).do_first) == said[form]


def test_operations_far_from_every_roof_are_said_once() -> None:
    far, near = subject_of(0.54, 3.95), subject_of(2, 2.49)
    first = First("More threads for attention", 1_400)
    assert text(goal(far, first).do_first) == (
        "No operation comes near a roof. Do first: more threads for attention, −1.4 ms."
    )
    assert text(goal(near, first).do_first) == "Do first: more threads for attention, −1.4 ms."


def test_numbers_say_what_they_are_and_how_much() -> None:
    found = goal(subject_of(16.7, 18.2, host_wait=60), First("Fuse", 5_738.5))
    marks = {
        one["quantity"]: one["raw"] for one in [*found.headline, *found.do_first] if "raw" in one
    }
    assert marks == {
        "length": pytest.approx(94_900),
        "floor": pytest.approx(16_700),
        "idle": pytest.approx(60 / 94.9),
        "saving": pytest.approx(5_738.5),
    }


def test_waits_are_said_once() -> None:
    subject = subject_of(1, 1, 8, 0, host_wait=5, links={"ici": 2})
    found = goal(subject, None)
    assert text(found.do_first).endswith(" The device waits 5.0 ms for the host, 2.0 for links.")
    assert below(standing(subject, found)) == "At 50 % of the roof (20 % known)."
    told = goal(subject, First("Fuse", 9_000))  # more than is unknown, so that it leads
    assert below(standing(subject, told)).endswith(
        " The device waits 5.0 ms for the host, 2.0 for links."
    )


def test_idle_time_of_unknown_cause_is_said_apart() -> None:
    """The host's part first; no finding leads that saves less than what is not explained."""
    subject = subject_of(3, 3, 0, 0, host_wait=2, unknown_wait=3)
    said = (
        "The device waits 2.0 ms for the host. "
        "Nothing ran for 3.0 ms, and the file does not say why."
    )
    assert below(standing(subject, goal(subject, None))).endswith(said)
    mostly = subject_of(1, 1, 0, 0, unknown_wait=9)
    hint = say("first_threads")
    assert goal(mostly, First("Fuse", 1_000), hint).do_first == hint
    assert below(standing(mostly, goal(mostly, None, hint))) == "At 50 % of the roof."


def test_what_a_mean_hides_is_said() -> None:
    sample = Sample(used=4, found=5, median_us=70_000, left_out={"first": 1.8})
    subject = subject_of(50, 40, sample=sample, count=4, outside=Outside(total_us=30_000))
    assert below(standing(subject, goal(subject, None))) == (
        "At 56 % of the roof. 30.0 ms lie outside the steps. "
        "The first step is left out: it took 1.8 times as long. The median step takes 70.0 ms."
    )
    usual = replace(subject, sample=Sample(used=4, found=4, median_us=89_000))
    assert "step" not in below(standing(usual, goal(usual, None))).replace("outside the steps", "")
