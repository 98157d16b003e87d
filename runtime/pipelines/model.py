"""A compiled estimator: called like the original, with one native call for each."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tilework.algebra.errors import TileworkError
from tilework.runtime.module import Module
from tilework.runtime.pipelines.calls import result_of
from tilework.runtime.pipelines.interface import Interface
from tilework.runtime.pipelines.interface_text import from_json, to_json

Array = NDArray[Any]


@dataclass(frozen=True)
class Method:
    """One method of an estimator: the code, if it needs some, and how it is called."""

    module: Module | None
    interface: Interface

    def __call__(self, rows: Any) -> Any:
        """The result for each row of a frame or array: one native call for each block of rows."""
        rows = self.interface.checked(rows)
        return result_of(self.module, self.interface.output, self.interface.blocks(rows), rows.shape[0])


class CompiledPipeline:
    """What `pipelines.compile` and `pipelines.load` give; it has the methods of the estimator.

    Frames and arrays go in as scikit-learn takes them; ValueError is raised for what it refuses.
    """

    def __init__(self, methods: Mapping[str, Method]):
        self._methods = dict(methods)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods that it has."""
        return tuple(self._methods)

    def transform(self, rows: Any) -> Any:
        """The features that the estimator makes of rows, an array or, where it makes one, a sparse matrix.

        Raises AttributeError where it is no transformer.
        """
        return self._method("transform")(rows)

    def predict(self, rows: Any) -> Array:
        """A number or a class for each row. Raises AttributeError where it predicts nothing."""
        return self._method("predict")(rows)

    def predict_proba(self, rows: Any) -> Array:
        """Return, for each row, the probability of each class. Raises AttributeError where it knows none."""
        return self._method("predict_proba")(rows)

    def decision_function(self, rows: Any) -> Array:
        """Return, for each row, the score of each class; of two classes, of the second.

        Raises AttributeError where it knows none.
        """
        return self._method("decision_function")(rows)

    def _method(self, name: str) -> Method:
        if name not in self._methods:
            raise AttributeError(f"the compiled estimator has no {name}; it has {', '.join(self._methods)}")
        return self._methods[name]

    def save(self, path: str | PathLike[str]) -> None:
        """Write all methods to one file, from which `pipelines.load` reads them. Raises TileworkError if not."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                with zipfile.ZipFile(path, "w") as archive:
                    for name, method in self._methods.items():
                        part = Path(folder) / name
                        if method.module is not None:
                            method.module.save(part)
                            archive.write(part, f"{name}.tw")
                        archive.writestr(f"{name}.json", json.dumps(to_json(method.interface)))
            except OSError as error:
                raise TileworkError(f"cannot write {path}: {error.strerror}") from None

    @staticmethod
    def load(path: str | PathLike[str]) -> CompiledPipeline:
        """Read what `save` wrote; nothing is compiled. Raises TileworkError for what is no such file."""
        methods: dict[str, Method] = {}
        try:
            with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
                there = set(archive.namelist())
                for name in [n.removesuffix(".json") for n in archive.namelist() if n.endswith(".json")]:
                    module = Module.load(archive.extract(f"{name}.tw", folder)) if f"{name}.tw" in there else None
                    methods[name] = Method(module, from_json(json.loads(archive.read(f"{name}.json"))))
        except OSError as error:
            raise TileworkError(f"cannot read {path}: {error.strerror}") from None
        except (zipfile.BadZipFile, ValueError) as error:
            raise TileworkError(f"cannot read {path}: it is no compiled pipeline ({error})") from None
        except KeyError:  # the JSON of a module says other things
            methods.clear()
        if not methods:
            raise TileworkError(f"cannot read {path}: it is no compiled pipeline; tilework.load reads modules")
        return CompiledPipeline(methods)
