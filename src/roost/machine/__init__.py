"""What touches this host: GPUs, processes, cgroups, devices. Used by the agent alone."""
