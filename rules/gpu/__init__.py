"""How kernels are run on devices whose threads run in blocks."""
