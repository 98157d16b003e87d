"""lit's configuration: `lit test` runs the RUN lines of every `.mlir` file (pytest runs them too, in process)."""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "tilework"  # noqa: F821  lit defines `config`
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["python", "Output"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821

# lit does not inherit an environment that is not activated: opt-tool and filecheck stand beside this Python.
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # noqa: F821
for name in ("HOME", "TILEWORK_CACHE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]  # noqa: F821
