"""`tvm.contrib.graph_executor`: runs compiled models."""

from tilework.compat.tvm.relay.build_module import GraphModule, create

__all__ = ["GraphModule", "create"]
