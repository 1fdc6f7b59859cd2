"""A C library with NVML's own interface, driven by a state file: see README.md."""
