"""Fuzzing of the way from scheduled kernels to streams: they compute what numpy does, and no token is missing."""
