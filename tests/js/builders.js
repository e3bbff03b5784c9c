// Page data for tests: small, but complete enough for every module.

/** Ops as `[name, category, bound, cost, share, intensity, gflops]`. */
export function pageWith(ops, extra = {}) {
  const categories = [...new Set(ops.map((op) => op[1]))];
  const bounds = [
    { id: "Compute", label: "compute", kind: "flat", token: "--roof-compute", dash: "solid" },
    { id: "HBM", label: "HBM", kind: "slanted", token: "--roof-hbm", dash: "solid", level: "hbm" },
    { id: "Unknown", label: "no cost", kind: "none", token: "--roof-unknown", dash: "dash" },
  ];
  const view = {
    op: ops.map((_, i) => i),
    columns: { rank: ops.map((_, i) => i + 1), self_share_ratio: ops.map((op) => op[4]) },
    beyond: { ops: 0, share_ratio: 0 },
    program: [],
    categories: [],
    verdict: { headline: [], lead: [] },
  };
  return {
    schema: 1,
    profile: { id: "p", title: "p", files: [] },
    device: { name: "TPU", kind: "tpu", core_word: "TensorCore", cores: 1, hosts: 1, fields: [] },
    roofs: {
      compute: [
        { id: "peak", label: "Compute", gflops: 100_000, token: "--roof-compute", dash: "solid" },
      ],
      memory: [
        {
          id: "hbm",
          label: "HBM",
          gibs: 931.3,
          gbs: 1000,
          ridge_flop_per_byte: 100,
          token: "--roof-hbm",
          dash: "solid",
        },
      ],
    },
    bounds,
    x_axes: [{ id: "bottleneck", label: "bottleneck memory", column: "bottleneck_intensity" }],
    columns: [
      { id: "name", label: "Operation", unit: "text", sub: "", default: true, help: "" },
      { id: "self_share_ratio", label: "Share", unit: "ratio", sub: "", default: true, help: "" },
      { id: "hbm_bandwidth_gibs", label: "HBM", unit: "gibs", sub: "", default: false, help: "" },
    ],
    program_columns: [],
    categories: categories.map((name) => ({ name, token: "--c1", symbol: "circle" })),
    ops: {
      count: ops.length,
      columns: {
        name: ops.map((op) => op[0]),
        category: ops.map((op) => categories.indexOf(op[1])),
        bound_by: ops.map((op) => bounds.findIndex((bound) => bound.id === op[2])),
        cost: ops.map((op) => op[3]),
        bottleneck_intensity: ops.map((op) => op[5] ?? null),
        flop_rate_gflops: ops.map((op) => op[6] ?? null),
      },
    },
    views: { in: view, out: { ...view, op: [] } },
    diagnostics: [],
    ...extra,
  };
}
