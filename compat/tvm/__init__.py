"""TVM's names on Tilework: `import tilework.compat.tvm as tvm` in place of `import tvm`.

The names are those of TVM 0.8 that programs of te use. They are Tilework's own, or thin adapters; what there is not is
refused by name.
"""

from tilework.compat.tvm import (
    arith,
    autotvm,
    contrib,
    driver,
    error,
    ir,
    nd,
    relay,
    runtime,
    support,
    target,
    te,
    testing,
    tir,
    topi,
    transform,
)
from tilework.compat.tvm.driver.build_module import build, lower
from tilework.compat.tvm.error import TVMError
from tilework.compat.tvm.ir import IRModule
from tilework.compat.tvm.registry import (
    get_global_func,
    list_global_func_names,
    register_func,
    remove_global_func,
)
from tilework.compat.tvm.runtime import convert
from tilework.compat.tvm.runtime.device import Device, context, cpu, cuda, device, gpu, metal, opencl, rocm, vulkan

container = ir
__version__ = "0.8.0"

__all__ = [
    "Device",
    "IRModule",
    "TVMError",
    "arith",
    "autotvm",
    "build",
    "container",
    "context",
    "contrib",
    "convert",
    "cpu",
    "cuda",
    "device",
    "driver",
    "error",
    "get_global_func",
    "gpu",
    "ir",
    "list_global_func_names",
    "lower",
    "metal",
    "nd",
    "opencl",
    "register_func",
    "relay",
    "remove_global_func",
    "rocm",
    "runtime",
    "support",
    "target",
    "te",
    "testing",
    "tir",
    "topi",
    "transform",
    "vulkan",
]
