"""NVIDIA's management library: a reader (`reader`), the process it lives in (`helper`), and the
`GpuDriver` that asks that process (`driver`). Only `library` knows the binding.
"""
