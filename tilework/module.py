"""A compiled model as its user holds it: it runs, and shows what became of it at each level of the compiler."""

from __future__ import annotations

from tilework.algebra.errors import TileworkError
from tilework.runtime import module
from tilework.runtime.display import CodeText


class Module(module.Module):
    """`m(x)` or `m.run({"x": x})`, and `m.show("te")`; see `tilework.runtime.module.Module`."""

    def show(self, level: str = "graph", kernel: str | None = None) -> CodeText:
        """What the model is at a level, lowered again from its program: a text that notebooks show in colours.

        level: "model" as it was read, "graph" with its fused groups, "te", "schedule", "loop", "host", or what the back
        end writes: for a processor "llvmir" and "asm". kernel: show this kernel or group alone. The text of "llvmir"
        and "asm" is that of the kernels on the host. Raises UsageError for a level or a kernel that there is not.
        """
        if self.source is None:
            raise TileworkError("nothing is known of what the module was compiled from: compile the model again")
        from tilework.driver.show_level import show_level  # running a module needs no compiler

        return CodeText(show_level(self.source, level, kernel))
