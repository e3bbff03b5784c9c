"""What to try, per rule in the words of the reader's stack, with a snippet to copy: one table.

A key is a rule, or a rule and a form of its text ("M1 copy"). Under it are the cures by stack; ""
is that of any stack. `docs/advice.md` has the sources of the calls that snippets name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from roofline.advice.op_kinds import NCU, NSYS, ROCPROF, TORCH, TPU, XLA_GPU, profiler_of
from roofline.analysis.records import RooflineAnalysis

JAX, CUDA, TRITON, SERVER = "jax", "cuda", "triton", "server"
STACKS = {
    TORCH: (TORCH,),
    TPU: (TPU, JAX),
    XLA_GPU: (JAX,),
    NCU: (NCU, CUDA),
    NSYS: (CUDA,),
    ROCPROF: (ROCPROF,),
}
"""Where the words of a stack are looked for, by the profiler that wrote a file."""

# A kernel that a person wrote in Triton: its name ends with its arguments. Those that
# torch.compile wrote begin with what they fuse.
_TRITON = re.compile(r"_\d+d\d+d|^triton_(?!(poi|red|per|tem|for)_)")
_OTHERS = "tensorflow::"
_SERVERS = ("vllm::", "sglang_profiler::", "sgl_kernel::")


class Cure(NamedTuple):
    """What to try, as a sentence with slots, and code that does it; "" where there is none."""

    text: str
    snippet: str = ""


def stacks_of(analysis: RooflineAnalysis) -> tuple[str, ...]:
    """Where the words of this profile's stack are looked for, the nearest first."""
    names = analysis.profile.ops.name
    if any(_OTHERS in name for name in names):
        return ()
    written = (TRITON,) if any(map(_TRITON.search, names)) else ()
    served = (SERVER,) if any(name.startswith(_SERVERS) for name in names) else ()
    return *served, *written, *STACKS.get(profiler_of(analysis), ())


def cure_of(rule: str, forms: Sequence[str], stacks: Sequence[str]) -> Cure:
    """The first cure that exists: of a form before the rule, of the reader's stack before any."""
    return next(_cures(rule, forms, stacks), Cure(""))


def _cures(rule: str, forms: Sequence[str], stacks: Sequence[str]) -> Iterator[Cure]:
    for key in (*(f"{rule} {form}" for form in forms if form), rule):
        of = CURES.get(key, {})
        yield from (of[stack] for stack in (*stacks, "") if stack in of)


_COMPILED = "model = torch.compile(model)"
_GRAPHS = 'model = torch.compile(model, mode="reduce-overhead")  # CUDA graphs'
_TUNED = 'model = torch.compile(model, mode="max-autotune")'
_PINNED = """\
loader = DataLoader(data, num_workers=8, pin_memory=True)
batch = batch.to("cuda", non_blocking=True)"""
_PREFETCHED = """\
following = jax.device_put(next(batches))  # returns at once
state = step(state, batch)
batch = following"""
_TWO_STREAMS = """\
cudaMemcpyAsync(device_in, host_in, bytes, cudaMemcpyHostToDevice, copying_in);
cudaMemcpyAsync(host_out, device_out, bytes, cudaMemcpyDeviceToHost, copying_out);"""
_DONATED = "step = jax.jit(step, donate_argnums=0)"
_SDPA = "out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)"
_CUDNN = """\
from torch.nn.attention import SDPBackend, sdpa_kernel
with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]):
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)"""
_JAX_ATTENTION = 'out = jax.nn.dot_product_attention(q, k, v, implementation="cudnn")'
_SPLASH = "from jax.experimental.pallas.ops.tpu import splash_attention"
_AUTOTUNED = """\
@triton.autotune(
    [triton.Config({"BLOCK": block}, num_warps=warps, num_stages=stages)
     for block in (64, 128, 256) for warps in (4, 8) for stages in (2, 3, 4)],
    key=["n"],
)"""
_INT8 = """\
from torchao.quantization import Int8WeightOnlyConfig, quantize_
quantize_(model, Int8WeightOnlyConfig())"""
_FP8 = """\
from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, quantize_
quantize_(model, Float8DynamicActivationFloat8WeightConfig())"""
_SERVED_FP8 = "vllm serve … --quantization fp8"
_WIDE = "float4 v = reinterpret_cast<const float4*>(x)[i];  // 16 bytes per thread"

_AVOID_COPY: Mapping[str, Cure] = {
    "": Cure("A view, an operation in place, or the layout of the producer."),
    TORCH: Cure(
        "A view, an operation in place, or `torch.compile`, which drops copies between layouts.",
        "x = x.transpose(1, 2)  # a view: no .contiguous(), no .clone()",
    ),
    JAX: Cure("The layout of the producer, or a donated buffer.", _DONATED),
}
_IN_PLACE: Mapping[str, Cure] = {
    "": Cure("Donate the buffer, and give the cache the layout in which its producer writes."),
    JAX: Cure(
        "Donate the buffer, so that only the new part is written, in the layout in which its "
        "producer writes.",
        _DONATED,
    ),
}
_ATTENTION: Mapping[str, Cure] = {
    "": Cure("Another attention kernel (FlashAttention, cuDNN), larger tiles, more sequences."),
    TORCH: Cure("Another attention kernel: cuDNN, FlashAttention 3, FlexAttention.", _CUDNN),
    TPU: Cure("Another attention kernel (splash attention), larger blocks.", _SPLASH),
    JAX: Cure("Another attention kernel.", _JAX_ATTENTION),
}
_PAGED: Mapping[str, Cure] = {
    "": Cure("Another attention backend of the server, keys and values in larger pages."),
    TORCH: Cure(
        "Another attention backend of the server, keys and values in larger pages.",
        "python -m sglang.launch_server … --attention-backend NAME\n"
        "VLLM_ATTENTION_BACKEND=NAME vllm serve … --block-size 64",
    ),
}
_THREADS: Mapping[str, Cure] = {
    "": Cure("As many threads as there are cores, bound to them."),
    TORCH: Cure("As many threads as there are cores.", "torch.set_num_threads(os.cpu_count())"),
}
_FUSED_PASSES: Mapping[str, Cure] = {
    "": Cure("Fewer passes: fusion with the neighbours, results in 16 bits."),
    JAX: Cure(
        "Results in 16 bits; look for what keeps XLA from fusing: layouts, barriers.",
        "y = y.astype(jnp.bfloat16)",
    ),
}
_LAST_WAVE = Cure(
    "A grid of whole waves, a persistent kernel (stream-K), smaller tiles at the end."
)
_BALANCE = Cure("Divide by work, not by index; a queue of tiles.")
_LESS_SHARED = Cure("Fewer or wider accesses to shared memory; fewer special functions.", _WIDE)
_INDEPENDENT = Cure(
    "Independent instructions between dependent ones: unroll, more accumulators.",
    "#pragma unroll 4",
)
_BRANCHES = Cure("Fewer divergent branches and barriers; constants by uniform access.")
_BY_BATCHES = Cure(
    "Continuous batching, more requests at a time, as far as the memory for keys and values "
    "allows.",
    "vllm serve … --max-num-seqs 256",
)

CURES: Mapping[str, Mapping[str, Cure]] = {
    "C1": {
        "": Cure(
            "Overlap transfers with work (asynchronous collectives, prefetch), move fewer bytes, "
            "or keep the data where it is used."
        ),
        TORCH: Cure(
            "Start a collective early and wait late; FSDP prefetches the next layer.",
            "handle = dist.all_reduce(x, async_op=True)\n…  # work that does not need x\n"
            "handle.wait()",
        ),
        TPU: Cure(
            "Let XLA run collectives beside work.",
            'export LIBTPU_INIT_ARGS="--xla_tpu_enable_async_collective_fusion=true"',
        ),
        JAX: Cure(
            "Let XLA run collectives beside work.",
            'export XLA_FLAGS="--xla_gpu_enable_latency_hiding_scheduler=true"',
        ),
    },
    "C1 host": {
        "": Cure("Pinned memory, larger chunks, prefetch on a second stream."),
        TORCH: Cure("Pinned memory, and copies that do not block.", _PINNED),
        JAX: Cure(
            "Prefetch the next tensor while this one is used; keep on the device what is used "
            "again.",
            _PREFETCHED,
        ),
        CUDA: Cure(
            "Pinned memory, and a second stream.",
            "cudaMallocHost(&host, bytes);\n"
            "cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, copying);",
        ),
    },
    "C2": {
        "": Cure(
            "A larger batch per chip; tensor parallelism within a node, weights shared across "
            "nodes (FSDP, ZeRO) or a pipeline; another mesh. The gain takes twice the tokens per "
            "chip with the same traffic, and all of it overlapped."
        )
    },
    "C3": {
        "": Cure("Put small collectives into buckets, and fuse those that follow each other."),
        TORCH: Cure(
            "Fewer and larger collectives.",
            "model = DistributedDataParallel(model, bucket_cap_mb=100)",
        ),
        JAX: Cure(
            "Fewer and larger collectives.",
            'export XLA_FLAGS="--xla_gpu_all_reduce_combine_threshold_bytes=134217728"',
        ),
        TPU: Cure("Fewer and larger collectives: shard along one axis of the mesh."),
    },
    "C3 host": {
        "": Cure("Pinned memory, larger chunks, prefetch."),
        TORCH: Cure("Pinned memory, and copies that do not block.", _PINNED),
        JAX: Cure("Larger chunks, and the next one before this one ends.", _PREFETCHED),
    },
    "C4": {"": Cure("Compare its host, its clock and its share of the input with the others.")},
    "C5": {
        "": Cure("Transfers in both directions at once: two streams."),
        TORCH: Cure(
            "Two streams, one for each direction.",
            "with torch.cuda.stream(copying_in):\n"
            '    following = host_in.to("cuda", non_blocking=True)\n'
            "with torch.cuda.stream(copying_out):\n"
            "    host_out.copy_(result, non_blocking=True)",
        ),
        JAX: Cure(
            "Start the copy out of the last result before the copy in of the next tensor ends.",
            "result.copy_to_host_async()\nfollowing = jax.device_put(next(batches))",
        ),
        CUDA: Cure("Two streams, one for each direction.", _TWO_STREAMS),
    },
    "G1": {
        "": Cure("One kernel, or fusion by the compiler."),
        TORCH: Cure("`torch.compile`, or one kernel in Triton.", _COMPILED),
        TRITON: Cure("One kernel that loads its inputs once and stores the last result alone."),
        JAX: Cure(
            "One `jax.jit` around them; look for what keeps XLA from fusing them.",
            "layer = jax.jit(layer)",
        ),
        TPU: Cure(
            "Look for what keeps XLA from fusing them (layouts, barriers), or write one Pallas "
            "kernel."
        ),
    },
    "G2": {
        "": Cure("int8 or fp8 weights, dequantised inside the kernel. Check the accuracy."),
        SERVER: Cure("fp8 weights. Check the accuracy.", _SERVED_FP8),
        TORCH: Cure("int8 or fp8 weights. Check the accuracy.", _INT8),
    },
    "G3": {"": Cure("A larger batch, or continuous batching on a server.")},
    "G3 steps": {"": _BY_BATCHES},
    "G4": {
        "": Cure(
            "fp8 or int8 keys and values, fewer key heads (GQA), a sliding window. Check the "
            "accuracy."
        )
    },
    "G4 steps": {
        "": Cure(
            "fp8 keys and values, fewer key heads (GQA), a sliding window. A larger batch does "
            "not help here.",
            "vllm serve … --kv-cache-dtype fp8",
        )
    },
    "G4 scores": {
        "": Cure("One kernel for all of the attention, such as FlashAttention."),
        TORCH: Cure("One kernel for all of the attention.", _SDPA),
        JAX: Cure("One kernel for all of the attention.", _JAX_ATTENTION),
        TPU: Cure("One kernel for all of the attention: splash attention.", _SPLASH),
    },
    "G5": {
        "": Cure("{precision} products, after a check of the accuracy."),
        SERVER: Cure("fp8 products, after a check of the accuracy.", _SERVED_FP8),
        TORCH: Cure("fp8 products of linear layers, after a check of the accuracy.", _FP8),
    },
    "G6": {
        "": Cure(
            "Speculative decoding with a small draft model, or heads that draft.",
            'vllm serve … --speculative-config \'{"model": "DRAFT", "num_speculative_tokens": 4}\'',
        )
    },
    "G7": {
        "": Cure("A selective policy for rematerialisation, if memory is left."),
        TORCH: Cure(
            "Checkpoint fewer blocks, or keep the results of products.",
            "context_fn = partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm])\n"
            "out = checkpoint(block, x, use_reentrant=False, context_fn=context_fn)",
        ),
        JAX: Cure(
            "Keep the results of products.",
            "layer = jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable)",
        ),
    },
    "H1": {
        "": Cure("Dispatch asynchronously, remove synchronisations, prefetch input."),
        SERVER: Cure(
            "Serve with CUDA graphs, for the batches that occur.",
            "vllm serve …  # without --enforce-eager; SGLang: without --disable-cuda-graph",
        ),
        TORCH: Cure(
            'CUDA graphs or `torch.compile(mode="reduce-overhead")`; no `.item()` and no '
            "`.cpu()` between steps.",
            _GRAPHS,
        ),
        JAX: Cure(
            "No `float()` and no `block_until_ready()` between steps; several steps in one call.",
            "state, losses = jax.lax.scan(step, state, batches)",
        ),
        CUDA: Cure(
            "Record the launches once as a graph, and launch that.",
            "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
            "…  // the launches\n"
            "cudaStreamEndCapture(stream, &graph);\n"
            "cudaGraphInstantiate(&executable, graph, 0);\n"
            "cudaGraphLaunch(executable, stream);",
        ),
    },
    "H2": {
        "": Cure("Prefetch, use more workers, decode on the device, pack records."),
        TORCH: Cure("More workers, pinned memory.", _PINNED),
        JAX: Cure("Have the next batch on the device before this step ends.", _PREFETCHED),
    },
    "K1": {
        "": Cure("Shapes that fill tiles and waves, larger tiles, split-K, a look at the clock."),
        TORCH: Cure(
            "Let the compiler choose tiles and split-K; sizes that are multiples of 128.", _TUNED
        ),
        TRITON: Cure("Other tiles, split-K.", _AUTOTUNED),
        JAX: Cure("Sizes that are multiples of 128, fewer and larger products."),
        TPU: Cure("Sizes that are multiples of 128 (8 in the rows), fewer and larger products."),
    },
    "K1 attention": _ATTENTION,
    "K1 attention_paged": _PAGED,
    "K1 attention_cpu": _THREADS,
    "K1 filled": {
        "": Cure("Sizes that are a multiple of the tile, another tile, split-K."),
        TORCH: Cure("Sizes that are a multiple of the tile, another tile, split-K.", _TUNED),
        TRITON: Cure("Sizes that are a multiple of the tile, another tile.", _AUTOTUNED),
    },
    "K2": {
        "": Cure("Tuning to {target} of the roof, fewer FLOPs, or more devices."),
        TORCH: Cure("Let the compiler try other kernels for these sizes.", _TUNED),
        TRITON: Cure("Other tiles, more stages.", _AUTOTUNED),
    },
    "K3": {
        "": Cure("Cheaper functions, packed bf16, or work moved to the matrix unit."),
        CUDA: Cure(
            "Cheaper functions, packed bf16.",
            "__nv_bfloat162 y = __hfma2(a, b, c);  // two at once",
        ),
    },
    "L1": {
        "": Cure("Fuse or batch them, or use a persistent kernel."),
        TORCH: Cure("Fuse them, or launch them as one graph.", _GRAPHS),
        JAX: Cure("Batch them: one larger operation.", "layers = jax.vmap(layer)"),
        TPU: Cure("Fuse or batch them: one larger operation, or a Pallas kernel."),
    },
    "L2": {
        "": Cure("More work in flight: larger tiles, more independent work per thread."),
        TORCH: Cure("Let the compiler choose tiles and split-K.", _TUNED),
        TRITON: Cure("Other tiles, more warps, split-K.", _AUTOTUNED),
    },
    "L2 attention": _ATTENTION,
    "L2 attention_paged": _PAGED,
    "L2 attention_cpu": _THREADS,
    "L2 few_blocks": {
        "": Cure("More blocks: split-K, smaller tiles, several problems in one launch."),
        CUDA: Cure(
            "More blocks: split-K, smaller tiles, several problems in one launch.",
            "kernel<<<dim3(m_tiles, n_tiles, parts_of_k), threads>>>(…);",
        ),
        TRITON: Cure(
            "More programs: split-K, smaller tiles.", "grid = (m_tiles, n_tiles, SPLIT_K)"
        ),
    },
    "L2 launch": {
        "": Cure("Longer calls: several problems in one launch, or fused with a neighbour.")
    },
    "L2 tail": {"": _LAST_WAVE},
    "L2 imbalance": {"": _BALANCE},
    "L2 low_occupancy": {
        "": Cure("Fewer registers or less shared memory per block, or more work per thread."),
        CUDA: Cure(
            "Fewer registers or less shared memory per block, or more work per thread.",
            "__global__ void __launch_bounds__(256, 4) kernel(…)  // threads, blocks per SM",
        ),
    },
    "L2 barrier": {
        "": Cure(
            "Fewer or narrower barriers: warp-level exchange, double buffers, one warp that loads "
            "(TMA)."
        ),
        CUDA: Cure(
            "Fewer or narrower barriers: warp-level exchange, double buffers.",
            "x += __shfl_xor_sync(0xffffffff, x, 16);  // instead of __syncthreads()",
        ),
    },
    "L2 dependency:long_scoreboard": {
        "": Cure("More loads in flight: unroll, prefetch, asynchronous copies."),
        CUDA: Cure(
            "More loads in flight: unroll, prefetch, asynchronous copies.",
            "__pipeline_memcpy_async(&tile[i], &x[i], 16);",
        ),
    },
    "L2 dependency:short_scoreboard": {"": _LESS_SHARED},
    "L2 dependency:mio_throttle": {"": _LESS_SHARED},
    "L2 dependency:wait": {"": _INDEPENDENT},
    "L2 dependency:math_pipe_throttle": {"": _INDEPENDENT},
    "L2 not_measured": {
        "": Cure("Larger tiles, or split the longest dimension."),
        TORCH: Cure(
            "Larger tiles or split-K. The reason is not in a trace: count it.",
            "ncu --set full -k regex:NAME -c 1 python program.py  # AMD: rocprof-compute",
        ),
        TRITON: Cure("Other tiles, more warps, split-K.", _AUTOTUNED),
        NCU: Cure("Profile this kernel with more sections.", "ncu --set full -k regex:NAME …"),
        ROCPROF: Cure("Profile all blocks of this kernel.", "rocprof-compute profile -n NAME -- …"),
    },
    "L3": {"": Cure("Larger batches, fewer and larger kernels.")},
    "M1": {
        "": Cure(
            "Coalesced or wide loads, a layout whose last dimension fills a tile, no gathers and "
            "transposes, fewer spills."
        ),
        TORCH: Cure("Let the compiler try other kernels; contiguous inputs, no gathers.", _TUNED),
        TRITON: Cure(
            "Neighbouring offsets in a block, and a multiple that the compiler knows.",
            "offsets = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), 16), 16)",
        ),
        TPU: Cure("A last dimension of 128, no gathers and transposes."),
        CUDA: Cure("Neighbouring threads read neighbouring addresses, 16 bytes each.", _WIDE),
    },
    "M1 copy": _AVOID_COPY,
    "M1 update": _IN_PLACE,
    "M1 attention": _ATTENTION,
    "M1 attention_paged": _PAGED,
    "M1 attention_cpu": _THREADS,
    "M2": {
        "": Cure("Fusion with a neighbour, a smaller data type, or data that stays on the chip."),
        TORCH: Cure("Fusion with a neighbour, or 16-bit results.", _COMPILED),
        TRITON: Cure("Fuse with a neighbour, so that its result is not stored."),
    },
    "M2 fusion": _FUSED_PASSES,
    "M2 copy": _AVOID_COPY,
    "M2 update": _IN_PLACE,
    "M2 attention": _ATTENTION,
    "M2 optimizer": {
        "": Cure("Fewer passes: fused optimizer states, bf16 states."),
        TORCH: Cure(
            "One pass over the states.", "optimizer = torch.optim.AdamW(parameters, fused=True)"
        ),
        JAX: Cure(
            "bf16 states, in donated buffers.",
            "optimizer = optax.adamw(rate, mu_dtype=jnp.bfloat16)",
        ),
    },
    "M2 stencil": {"": Cure("Temporal blocking, fusion with the neighbour, a smaller data type.")},
    "O1": {
        "": Cure("Double buffering, pipelined tiles, asynchronous copies."),
        TORCH: Cure("Let the compiler try kernels with more stages.", _TUNED),
        TRITON: Cure("More stages.", _AUTOTUNED),
        TPU: Cure("Smaller blocks, so that the next one is loaded meanwhile (Pallas)."),
        CUDA: Cure(
            "Load the next tile while this one is used.",
            "__pipeline_memcpy_async(&tile[next], &x[next], 16);\n__pipeline_commit();\n"
            "…  // work on this tile\n__pipeline_wait_prior(0);",
        ),
    },
    "P1": {"": Cure("Fewer instructions for the same work.")},
    "P1 issue": {
        "": Cure("Wide loads, packed math, tensor instructions, hoisted index arithmetic.", _WIDE)
    },
    "P1 alu": {
        "": Cure(
            "Less index and bit arithmetic: 32-bit indices, strength reduction, precomputed "
            "offsets.",
            "int i = blockIdx.x * blockDim.x + threadIdx.x;  // 32 bits, not size_t",
        )
    },
    "P1 salu": {"": Cure("Less index and bit arithmetic: precomputed offsets, fewer counters.")},
    "P1 xu": {
        "": Cure(
            "Cheaper special functions, fewer conversions.",
            "y = exp2f(x * 1.44269504f);  // instead of expf(x)",
        )
    },
    "P1 lsu": {
        "": Cure("Wider loads and stores, register tiles, fewer passes over shared memory.", _WIDE)
    },
    "P1 mio": {"": _LESS_SHARED},
    "P1 adu": {"": _BRANCHES},
    "P1 cbu": {"": _BRANCHES},
    "P1 branch": {"": _BRANCHES},
    "V1": {
        "": Cure(
            "Recount the work of these operations, or name the right peaks. Do not optimise by "
            "these numbers."
        ),
        TPU: Cure(
            "Say what a call computes and moves. Do not optimise by these numbers until then.",
            "pl.pallas_call(…, cost_estimate=pl.CostEstimate(\n"
            "    flops=…, bytes_accessed=…, transcendentals=…))",
        ),
    },
    "V2": {"": Cure("Look for spills and padding; then tile or lay out the data anew.")},
    "V3": {"": Cure("Choose shapes that fill the tiles, and look at what is recomputed.")},
    "V4": {"": Cure("Read the distance to the vector roof: there is less to gain than it seems.")},
    "V5": {
        "": Cure("{precision} products, after a check of the accuracy."),
        TORCH: Cure(
            "Products in TF32, after a check of the accuracy.",
            'torch.set_float32_matmul_precision("high")',
        ),
        JAX: Cure(
            "Products in a shorter format, after a check of the accuracy.",
            'jax.config.update("jax_default_matmul_precision", "tensorfloat32")',
        ),
        TPU: Cure(
            "Products in one pass, after a check of the accuracy.",
            'jax.config.update("jax_default_matmul_precision", "bfloat16")',
        ),
    },
    "V5 wide": {
        "": Cure(
            "Give the peak of the format that the kernel multiplies in.",
            "roofline analyze FILE --peak compute=19.5TFLOP/s",
        )
    },
    "W2": {
        "": Cure("The report does not say what else the unit does."),
        NCU: Cure("The report does not say why; more sections do.", "ncu --set full …"),
    },
    "W2 sectors": {
        "": Cure(
            "Neighbouring threads read neighbouring addresses; transpose through shared memory; "
            "wide loads.",
            _WIDE,
        )
    },
    "W2 bank_conflicts": {
        "": Cure(
            "Pad or swizzle the layout in shared memory.",
            "__shared__ float tile[32][32 + 1];  // the padding moves each row by one bank",
        ),
        ROCPROF: Cure("Pad or swizzle the LDS layout.", "__shared__ float tile[32][32 + 1];"),
    },
    "W2 lanes": {
        "": Cure(
            "Sort or group work so that a warp takes one branch; avoid loop lengths per thread."
        )
    },
    "W2 multiply_adds": {
        "": Cure(
            "Rewrite a·b + c as one operation; fast-math contraction; check conversions.",
            "y = fmaf(a, b, c);  // or nvcc --fmad=true",
        )
    },
    "W2 replays": {"": Cure("Fewer conflicts: wider accesses, a layout without shared banks.")},
    "W2 last_wave": {"": _LAST_WAVE},
    "W2 equal_sms": {"": _BALANCE},
}
