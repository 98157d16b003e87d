"""How kernels run on VDLA."""
