"""Random kernels with threads that cooperate, on random devices."""
