"""What is well and what is not, of Roost itself and of the GPUs, from facts alone."""
