"""Engines run jobs: this machine's agent now, Slurm and Kubernetes beside it later."""
