"""The posture of a machine: facts in, findings out, in order of risk. Pure."""
