"""Examples that `roofline template csv` and `roofline template json` print: files that import."""

CSV = """\
# device: NVIDIA A100 80GB PCIe
# peak_fp32: 19.5 TFLOP/s
# peak_fp16_tensor: 312 TFLOP/s
# peak_dram: 1935 GB/s
# peak_host: 32 GB/s
name,calls,time_ms,flops,precision,dram_bytes,l2_bytes,host_bytes,category
gemm_1024,10,0.182,21474836480,fp16 tensor,83886080,251658240,,gemm
softmax,10,0.094,33554432,fp32,134217728,134217728,,elementwise
layer_norm,20,0.131,50331648,fp32,201326592,201326592,,elementwise
weights_to_device,1,0.150,0,,4194304,,4194304,copy
"""

JSON = """\
{
  "schema": "roofline-generic/1",
  "device": {"name": "NVIDIA A100 80GB PCIe", "count": 1},
  "roofs": {
    "compute": [
      {"name": "FP32", "precision": "fp32", "value": 19.5, "unit": "TFLOP/s"},
      {"name": "FP16 tensor", "precision": "fp16", "value": 312, "unit": "TFLOP/s",
       "kind": "theoretical", "sparsity": "dense"}
    ],
    "memory": [
      {"level": "dram", "name": "HBM2e", "value": 1935, "unit": "GB/s", "kind": "theoretical"}
    ],
    "links": [
      {"level": "host", "name": "PCIe 4.0", "value": 32, "unit": "GB/s", "kind": "theoretical"}
    ]
  },
  "kernels": [
    {"name": "gemm_1024", "calls": 10, "time": {"value": 0.182, "unit": "ms"},
     "flops": {"fp16 tensor": 21474836480}, "bytes": {"dram": 83886080, "l2": 251658240},
     "category": "gemm", "tags": {"step": 3}},
    {"name": "softmax", "calls": 10, "time": "0.094 ms",
     "flops": {"fp32": 33554432}, "bytes": 134217728},
    {"name": "weights_to_device", "time": "0.15 ms", "flops": 0,
     "bytes": {"dram": 4194304, "host": 4194304}}
  ]
}
"""

TEMPLATES = {"csv": CSV, "json": JSON}
