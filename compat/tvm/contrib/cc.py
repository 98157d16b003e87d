"""`tvm.contrib.cc`: refused, since no libraries are linked."""

from tilework.compat.tvm.refused import refused

create_shared = refused(
    "contrib.cc.create_shared", "compiled functions live in the process; a model is saved by tilework"
)
