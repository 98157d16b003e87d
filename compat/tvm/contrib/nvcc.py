"""`tvm.contrib.nvcc`: refused, since Tilework writes PTX itself."""

from tilework.compat.tvm.refused import refused

_INSTEAD = "tvm.build(s, args, 'cuda') writes the code of the device without nvcc"
compile_cuda = refused("contrib.nvcc.compile_cuda", _INSTEAD)
find_cuda_path = refused("contrib.nvcc.find_cuda_path", _INSTEAD)
have_fp16 = refused("contrib.nvcc.have_fp16", _INSTEAD)
have_tensorcore = refused("contrib.nvcc.have_tensorcore", _INSTEAD)
parse_compute_version = refused("contrib.nvcc.parse_compute_version", _INSTEAD)
get_target_compute_version = refused("contrib.nvcc.get_target_compute_version", _INSTEAD)
