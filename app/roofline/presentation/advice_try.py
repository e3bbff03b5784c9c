"""What to try, as data: by rule, kind of operation or measured reason, and profiler.

The first that exists of rule + kind + profiler, rule + kind, rule + profiler and rule is said, so a
text never names an option of another profiler. `advice_sentences` has titles and reasons.
"""

from collections.abc import Mapping

_LAST_WAVE = "A grid of whole waves, a persistent kernel (stream-K), smaller tiles for the rest."
_ACCURACY = " Check the accuracy."
_COUNTERS = "the reason is not in this file."

ADVICE_TRY: Mapping[str, str] = {
    # Validity.
    "advice_V1_try": "Recount the work of these operations, or name the right peaks. Do not "
    "optimise "
    "by these numbers.",
    "advice_V1_elementwise_try": "The compiler's count of FLOPs is too high for this fusion; give "
    "the "
    "count, or the vector peak.",
    "advice_V2_try": "Look for spills and padding; then tile or lay out the data anew.",
    "advice_V3_try": "Choose shapes that fill the tiles, and look at what is recomputed.",
    "advice_V4_try": "Read the distance to the vector roof: there is less to gain than it seems.",
    "advice_V5_try": "{precision} products, after a check of the accuracy.",
    "advice_V5_torch_try": "`torch.set_float32_matmul_precision`, after a check of the accuracy.",
    "advice_V5_tpu_try": "`jax_default_matmul_precision`, after a check of the accuracy.",
    "advice_V5_wide_try": "Give the peak of the format that the kernel multiplies in "
    "(`--peak compute=…`).",
    "advice_V7_try": "Give the FLOPs and bytes of these operations, or measure them with the "
    "counters "
    "of a kernel profiler.",
    "advice_V7_host_only_try": "`ProfilerActivity.CUDA` and, on AMD, roctracer: the kernels are "
    "missing.",
    "advice_V7_host_only_torch_try": "`activities=[CPU, CUDA]`; on AMD with roctracer: the "
    "kernels are "
    "missing.",
    "advice_V7_capture_try": "Upload the replay with this capture.",
    "advice_V7_no_shapes_torch_try": "`record_shapes=True`, or hardware counters.",
    "advice_V7_ncu_try": "ncu: `--set full` (or `--section SpeedOfLight`).",
    "advice_V7_rocprof_try": "rocprof-compute: profile without `--block`.",
    "advice_V7_xla_gpu_try": "Keep the `/host:metadata` plane in the capture: start the trace "
    "before "
    "compilation.",
    "advice_V7_tpu_try": "`cost_estimate=` for Pallas calls.",
    # Links.
    "advice_C1_try": "Overlap transfers with work (asynchronous collectives, prefetch), move "
    "fewer or "
    "smaller bytes, or keep the data where it is used.",
    "advice_C1_host_try": "Pinned memory, larger chunks, prefetch on a second stream.",
    "advice_C1_host_tpu_try": "Prefetch the next tensor while this one is used; keep on the "
    "device what "
    "is used again.",
    "advice_C2_try": "A larger batch per chip, fewer ways of tensor parallelism, another mesh. "
    "The gain "
    "takes twice the tokens per chip with the same traffic, and all of it overlapped.",
    "advice_C3_try": "Put small collectives into buckets, and fuse those that follow each other.",
    "advice_C3_host_try": "Pinned memory, larger chunks, prefetch.",
    "advice_C3_host_tpu_try": "Larger chunks, and the next one before this one ends.",
    "advice_C5_try": "Transfers in both directions at once: two streams.",
    "advice_C5_host_tpu_try": "Start the copy out of the last result before the copy in of the "
    "next "
    "tensor ends.",
    "advice_C4_try": "Compare its host, its clock and its share of the input with the others.",
    # Latency.
    "advice_L1_try": "Fuse or batch them, or use a persistent kernel.",
    "advice_L1_torch_try": "`torch.compile`, grouped products, CUDA graphs, or a persistent "
    "kernel.",
    "advice_L1_tpu_try": "Fuse or batch them: one larger operation, or a Pallas kernel.",
    "advice_L2_try": "More work in flight: larger tiles, more independent work per thread. The "
    "saving "
    "takes {capped} of the roof as reached.",
    "advice_L2_attention_try": "Another attention kernel (FlashAttention, cuDNN), larger tiles, "
    "more "
    "sequences at a time. The saving takes {capped} of the roof as reached.",
    "advice_L2_attention_tpu_try": "Another attention kernel (splash attention), larger blocks. "
    "The "
    "saving takes {capped} of the roof as reached.",
    "advice_L2_few_blocks_try": "More blocks: split-K, split the longest dimension, smaller tiles, "
    "several problems in one launch.",
    "advice_L2_launch_try": "Longer calls: several problems in one launch, or fused with a "
    "neighbour.",
    "advice_L2_tail_try": _LAST_WAVE,
    "advice_L2_imbalance_try": "Divide by work, not by index; a queue of tiles.",
    "advice_L2_low_occupancy_try": "Fewer registers or less shared memory per block, or more "
    "independent work per thread.",
    "advice_L2_barrier_try": "Fewer or narrower barriers: warp-level exchange, double buffers, "
    "one warp "
    "that loads (TMA).",
    "advice_L2_dependency:long_scoreboard_try": "More loads in flight: unroll, prefetch into "
    "registers "
    "or shared memory, asynchronous copies.",
    "advice_L2_dependency:short_scoreboard_try": "Fewer or wider accesses to shared memory; fewer "
    "special functions.",
    "advice_L2_dependency:mio_throttle_try": "Fewer or wider accesses to shared memory; fewer "
    "special "
    "functions.",
    "advice_L2_dependency:wait_try": "Independent instructions between dependent ones: unroll, "
    "more "
    "accumulators.",
    "advice_L2_dependency:math_pipe_throttle_try": "Independent instructions between dependent "
    "ones: "
    "unroll, more accumulators.",
    "advice_L2_not_measured_try": "Larger tiles, or split the longest dimension. The saving takes "
    "{capped} of the roof as reached.",
    "advice_L2_not_measured_ncu_try": f"Profile this kernel with `ncu --set full`: {_COUNTERS}",
    "advice_L2_not_measured_rocprof_try": f"Profile this kernel with rocprof-compute: {_COUNTERS}",
    "advice_L2_not_measured_torch_try": "Larger tiles or split-K. Profile this kernel with "
    "`ncu --set full` (AMD: rocprof-compute): the reason is not in this file.",
    "advice_L3_try": "Larger batches, fewer and larger kernels.",
    "advice_H1_try": "Dispatch asynchronously, remove synchronisations, prefetch input.",
    "advice_H1_torch_try": 'CUDA graphs or `torch.compile(mode="reduce-overhead")`, '
    "larger batches.",
    "advice_H2_try": "Prefetch, use more workers, decode on the device, pack records.",
    "advice_O1_try": "Double buffering, pipelined tiles, asynchronous copies. The saving takes "
    "{capped} "
    "of the roof as reached.",
    # Busy units.
    "advice_W2_try": "The report does not say what else the unit does.",
    "advice_W2_ncu_try": "The report does not say why; `--set full` does.",
    "advice_W2_sectors_try": "Neighbouring threads read neighbouring addresses; transpose through "
    "shared "
    "memory; wide loads.",
    "advice_W2_bank_conflicts_try": "Pad or swizzle the shared-memory layout; ldmatrix-friendly "
    "tiles.",
    "advice_W2_bank_conflicts_rocprof_try": "Pad or swizzle the LDS layout.",
    "advice_W2_lanes_try": "Sort or group work so that a warp takes one branch; avoid per-thread "
    "loop "
    "lengths.",
    "advice_W2_multiply_adds_try": "Rewrite a·b + c as one operation; fast-math contraction; check "
    "conversions.",
    "advice_W2_replays_try": "Fewer conflicts: wider accesses, a layout without shared banks.",
    "advice_W2_last_wave_try": _LAST_WAVE,
    "advice_W2_equal_sms_try": "Divide by work, not by index; a queue of tiles.",
    "advice_P1_try": "Fewer instructions for the same work.",
    "advice_P1_issue_try": "Fewer instructions for the same work: wide loads, packed math, tensor "
    "instructions, hoisted index arithmetic.",
    "advice_P1_alu_try": "Less index and bit arithmetic: 32-bit indices, strength reduction, "
    "precomputed "
    "offsets.",
    "advice_P1_salu_try": "Less index and bit arithmetic: precomputed offsets, fewer loop "
    "counters.",
    "advice_P1_xu_try": "Cheaper special functions (ex2 instead of exp, polynomial on the FMA "
    "pipe), "
    "fewer conversions.",
    "advice_P1_lsu_try": "Wider loads and stores (16 bytes per thread), register tiles, fewer "
    "passes over "
    "shared memory.",
    "advice_P1_mio_try": "Wider accesses to shared memory, fewer special functions and shuffles.",
    "advice_P1_adu_try": "Fewer divergent branches and barriers; constants by uniform access.",
    "advice_P1_cbu_try": "Fewer divergent branches and barriers; constants by uniform access.",
    "advice_P1_branch_try": "Fewer divergent branches and barriers; constants by uniform access.",
    # Memory.
    "advice_M1_try": "Coalesced or wide loads, a layout whose last dimension fills a tile, no "
    "gathers and "
    "transposes, fewer spills. The saving takes {capped} of the roof as reached.",
    "advice_M1_copy_try": "Avoid the copy: a view, an operation in place, the layout of the "
    "producer.",
    "advice_M1_update_try": "Donate the buffer (`donate_argnums`), and give the cache the layout "
    "in "
    "which its producer writes.",
    "advice_M1_attention_try": "Another attention kernel, keys and values in larger pages. The "
    "saving "
    "takes {capped} of the roof as reached.",
    "advice_M2_try": "Fusion with a neighbour, a smaller data type, or data that stays on the "
    "chip.",
    "advice_M2_optimizer_try": "Fewer passes: fused optimizer states, bf16 states.",
    "advice_M2_copy_try": "Avoid the copy: a view, an operation in place, the layout of the "
    "producer.",
    "advice_M2_update_try": "Donate the buffer (`donate_argnums`), so that only the new part is "
    "written.",
    "advice_M2_fusion_try": "Fewer passes: fusion with the neighbours, results in 16 bits.",
    "advice_M2_stencil_try": "Temporal blocking, fusion with the neighbour op, a smaller data "
    "type.",
    "advice_G1_try": "One kernel, in Triton or Pallas, or fusion by the compiler.",
    "advice_G1_torch_try": "`torch.compile`, or one kernel in Triton.",
    "advice_G1_tpu_try": "Look for what keeps XLA from fusing them (layouts, barriers), or write "
    "one "
    "Pallas kernel.",
    "advice_G2_try": f"int8 or fp8 weights, dequantised inside the kernel.{_ACCURACY}",
    "advice_G3_try": "A larger batch, or continuous batching on a server.",
    "advice_G3_steps_try": "Continuous batching, more requests at a time, as far as the memory "
    "for keys "
    "and values allows.",
    "advice_G4_try": f"fp8 or int8 keys and values, fewer key heads (GQA), a sliding "
    f"window.{_ACCURACY}",
    "advice_G4_steps_try": "fp8 or int8 keys and values, fewer key heads (GQA), a sliding window. "
    "A "
    "larger batch does not help here.",
    "advice_G4_scores_try": "`scaled_dot_product_attention`, FlashAttention.",
    "advice_G5_try": "{precision} products, after a check of the accuracy.",
    "advice_G6_try": "Speculative decoding with a small draft model, or heads that draft.",
    "advice_G7_try": "A selective policy for rematerialisation, if memory is left.",
    # Compute.
    "advice_K1_try": "Shapes that fill tiles and waves, larger tiles, split-K, a look at the "
    "clock. The "
    "saving takes {capped} of the roof as reached.",
    "advice_K1_attention_try": "Another attention kernel, larger tiles, more sequences at a "
    "time. The saving takes {capped} of the roof as reached.",
    "advice_K1_filled_try": "Sizes that are a multiple of the tile, another tile, split-K.",
    "advice_K2_try": "Tuning to {capped} of the roof, fewer FLOPs, or more devices.",
    "advice_K3_try": "Cheaper functions, packed bf16, or work moved to the matrix unit.",
}
