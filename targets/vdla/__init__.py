"""VDLA: accelerators with a matrix unit whose loads, computations and stores software synchronizes by tokens."""
