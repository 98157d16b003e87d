"""Writes a folder of C with a compiled model: a library to build with `make`, its header, and an example program.

Nothing of it needs Python to be built or run. The templates are beside this file, in the folder `c`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from math import prod
from pathlib import Path
from string import Template
from typing import NamedTuple

from tilework.algebra.c_index import INDEX_FUNCTIONS, CIndex
from tilework.algebra.c_names import c_name
from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.index_expr import Expr, const
from tilework.algebra.parse import parse
from tilework.runtime.arrays import ALIGNMENT, Array
from tilework.runtime.manifest import Manifest
from tilework.runtime.tensor_spec import Dim, TensorSpec

_TEMPLATES = Path(__file__).with_name("c")
PARALLEL = "tilework_parallel.c"
"""The threads of parallel loops, which all libraries share."""

_SUFFIXES = {"c": ".c", "llvm": ".o"}
"""Kind of target -> how the names of files with its code end."""

_C_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "bool": "bool",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""numpy's names of dtypes -> C types. C has no type for floating-point numbers of 16 bits everywhere."""

_OF_LIBRARY = ("model", "arena", "threads", "shape", "inputs", "outputs", "symbols", "call_entry")
"""Names in the library's functions that take tensors and sizes."""

_OF_EXAMPLE = (
    *("stop", "check", "given", "number", "memory", "read_numbers", "write_numbers", "check_names"),
    *("main", "count", "words", "threads", "parameters", "model", "i"),
)
"""Names in the example's function that holds tensors and sizes, and of what it calls."""


def write_library(
    folder: Path,
    name: str,
    manifest: Manifest,
    pieces: Sequence[bytes],
    parameters: Mapping[str, Array],
    flags: str = "",
) -> None:
    """Write a compiled model: as C, or as object files with a header of C, as its target says.

    name: what all names begin with that the library makes known. pieces: what together defines the manifest's entry.
    flags: for which processor `make` compiles C, as the option `-march` of C compilers says; by default for that of
    the machine. Raises UsageError for a name that C does not take, or
    code that no program in C can call, TileworkError where the folder cannot be written.
    """
    kind = manifest.target.split()[0]
    if kind not in _SUFFIXES:
        raise UsageError(f"programs in C cannot call code for targets of the kind '{kind}'")
    if manifest.devices:
        raise UsageError(f"a library of C runs on its host alone, this program on '{manifest.devices[0].name}' too")
    _check_name(name, manifest)
    try:
        _write_files(folder, name, manifest, pieces, parameters, flags)
    except OSError as error:
        raise TileworkError(f"cannot write {folder}: {error.strerror}") from None


def library_name(text: str, manifest: Manifest) -> str:
    """A name for a library of C that is like a text, such as a folder's name: underscores stand for what C refuses."""
    name = c_name(text)[:_LONGEST_NAME]
    while _is_taken(name, manifest):
        name = f"{name}_"
    return name


def _check_name(name: str, manifest: Manifest) -> None:
    """Raise UsageError for a name that is no word of C, or that C or the library's own code has already."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        raise UsageError(f"a library of C is named by a text, not by a value of type {type(name).__name__}")
    if name != library_name(name, manifest):
        raise UsageError(
            f"{name!r} cannot name a library of C: use letters, digits and underscores, at most {_LONGEST_NAME}, and "
            f"no name that C or the library has already; {library_name(name, manifest)!r} would do"
        )


def _is_taken(name: str, manifest: Manifest) -> bool:
    own = (*_OF_LIBRARY, *_OF_EXAMPLE, *_OF_C, *_C_TYPES.values(), *manifest.symbols)
    return name in own or _OF_FILES.fullmatch(name) is not None


_LONGEST_NAME = 100
_OF_FILES = re.compile(r"example|host|kernel_[0-9]+|tilework_parallel|parameters|opened")
_OF_C = (
    *("assert", "complex", "ctype", "errno", "fcntl", "fenv", "float", "inttypes", "iso646", "limits", "locale"),
    *("math", "pthread", "sched", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint"),
    *("stdio", "stdlib", "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "unistd", "wchar", "wctype"),
)
"""Headers of C and of POSIX: ours would be taken for them."""


def _write_files(
    folder: Path,
    name: str,
    manifest: Manifest,
    pieces: Sequence[bytes],
    parameters: Mapping[str, Array],
    flags: str,
) -> None:
    if manifest.bound:
        [symbol, *_] = manifest.bound
        raise UsageError(f"data decide how large outputs are ({symbol}): a library of C has no such outputs yet")
    folder.mkdir(parents=True, exist_ok=True)
    texts = _Texts(name, manifest)
    arrays = [parameters[spec.name] for spec in manifest.parameters]
    offsets, head = _write_parameters(folder / "parameters.bin", arrays)
    suffix = _SUFFIXES[manifest.target.split()[0]]
    files = {f"kernel_{i}{suffix}": piece for i, piece in enumerate(pieces[:-1])}
    files |= {f"host{suffix}": pieces[-1], PARALLEL: (_TEMPLATES / PARALLEL).read_bytes()}
    for file, content in files.items():
        (folder / file).write_bytes(content)
    common = texts.common()
    library = texts.library(offsets, head)
    _write(folder / f"{name}.h", "library.h", {**common, **texts.header()})
    _write(folder / f"{name}.c", "library.c", {**common, **library})
    _write(folder / "example.c", "example.c", {**common, **texts.example()})
    native = "$(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native)"
    objects = " ".join(_object(file) for file in (f"{name}.c", *files))
    _write(folder / "Makefile", "Makefile", {"name": name, "flags": flags or native, "objects": objects})


def _object(file: str) -> str:
    return file if file.endswith(".o") else f"build/{file.removesuffix('.c')}.o"


def _write(path: Path, template: str, values: Mapping[str, str]) -> None:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    path.write_text(Template(text).substitute(values), encoding="utf-8")


def _write_parameters(path: Path, arrays: Sequence[Array]) -> tuple[list[int], bytes]:
    """Write the file of parameters; returns where each begins, with the size of all behind, and how the file begins."""
    offsets, end = list[int](), ALIGNMENT
    digest = hashlib.sha256()
    for array in arrays:
        offsets.append(end)
        end += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        digest.update(array.tobytes())
    head = (b"Tilework parameters\n" + digest.digest()).ljust(ALIGNMENT, b"\0")
    with path.open("wb") as file:
        file.write(head)
        for array in arrays:
            file.write(array.tobytes().ljust(-(-array.nbytes // ALIGNMENT) * ALIGNMENT, b"\0"))
    return [*offsets, end], head


class _Texts:
    """What the templates are filled with."""

    def __init__(self, name: str, manifest: Manifest):
        self.name = name
        self.manifest = manifest
        taken: set[str] = set(_OF_LIBRARY)
        self.symbols = {symbol: _fresh(symbol, taken) for symbol in manifest.symbols}
        self.inputs = [(spec, _fresh(spec.name, taken)) for spec in manifest.inputs]
        self.outputs = [(spec, _fresh(spec.name, taken)) for spec in manifest.outputs]
        self.used: dict[str, None] = {}
        self._index = CIndex(lambda key: self.symbols[str(key)], lambda function: self.used.setdefault(function))
        self.sizes = ", ".join(f"int64_t {symbol}" for symbol in self.symbols.values()) or "void"

    def common(self) -> dict[str, str]:
        """What several files hold."""
        tensors = [f"const {_type(spec)} *{name}" for spec, name in self.inputs]
        tensors += [f"{_type(spec)} *{name}" for spec, name in self.outputs]
        sizes = [f"int64_t {symbol}" for symbol in self.symbols.values()]
        parameters = [f"const {self.name} *model", *tensors, *sizes, "void *arena", "int32_t threads"]
        return {
            "name": self.name,
            "NAME": self.name.upper(),
            "version": version("tilework"),
            "run_parameters": ", ".join(parameters),
            "sizes": self.sizes,
        }

    def header(self) -> dict[str, str]:
        lines = [f"   input {name}: {_described(spec)}" for spec, name in self.inputs]
        lines += [f"   output {name}: {_described(spec)}" for spec, name in self.outputs]
        shapes = [self._shape_declaration(spec, name) for spec, name in (*self.inputs, *self.outputs)]
        return {"tensors": "\n".join(lines), "shapes": "\n".join(shapes)}

    def _shape_declaration(self, spec: TensorSpec, name: str) -> str:
        prefix = f"{self.name}_{name}"
        return (
            f"/* {name}: {_described(spec)}. Its dimensions, and how many elements these make. */\n"
            f"void {prefix}_shape({_with_sizes(_shape_parameter(spec), self.symbols.values())});\n"
            f"int64_t {prefix}_elements({self.sizes});\n"
        )

    def library(self, offsets: Sequence[int], head: bytes) -> dict[str, str]:
        *starts, end = offsets
        shapes = [self._shape_definition(spec, name) for spec, name in (*self.inputs, *self.outputs)]
        arena_bytes = self._text(_product([self.manifest.arena_bytes]))
        messages = [
            f"    case {code}: return {_quoted(f'{self.name}: {text}')};\n"
            for code, text in self.manifest.messages.items()
        ]
        return {
            "entry": self.manifest.entry,
            "parameter_count": str(len(starts)),
            "file_bytes": str(end),
            "head": ", ".join(map(str, head.rstrip(b"\0"))),
            "offsets": ", ".join(map(str, starts)) or "0",
            "messages": "".join(messages),
            "arena_bytes": arena_bytes,
            "unused_sizes": self._unused([arena_bytes]),
            "shapes": "\n".join(shapes),
            "functions": "".join(f"{INDEX_FUNCTIONS[name]}\n" for name in self.used),
            "inputs": ", ".join([*(f"(void *){name}" for _, name in self.inputs), "NULL"]),
            "outputs": ", ".join([*(name for _, name in self.outputs), "NULL"]),
            "symbols": ", ".join(self.symbols.values()) or "0",
            "symbol_arguments": ", ".join(self.symbols.values()),
            "size_checks": "".join(f"  if ({size} < 0) return NEGATIVE_SIZE;\n" for size in self.symbols.values()),
        }

    def _shape_definition(self, spec: TensorSpec, name: str) -> str:
        prefix, dims = f"{self.name}_{name}", [self._text(_product([dim])) for dim in spec.shape]
        count = self._text(_product(spec.shape))
        lines = "".join(f"  shape[{axis}] = {dim};\n" for axis, dim in enumerate(dims)) or "  (void)shape;\n"
        return (
            f"void {prefix}_shape({_with_sizes(_shape_parameter(spec), self.symbols.values())}) {{\n"
            f"{self._unused(dims)}{lines}}}\n\n"
            f"int64_t {prefix}_elements({self.sizes}) {{\n{self._unused([count])}  return {count};\n}}\n"
        )

    def _text(self, e: Expr) -> str:
        return self._index.expr(e)

    def _unused(self, texts: Sequence[str]) -> str:
        """Says of sizes that are not in some expressions that this is on purpose."""
        words = set(re.findall(r"\w+", " ".join(texts)))
        return "".join(f"  (void){symbol};\n" for symbol in self.symbols.values() if symbol not in words)

    def example(self) -> dict[str, str]:
        return _Example(self.name, self.manifest.symbols, self.inputs, self.outputs).texts()


class _Example:
    """The example program, whose variables are called as the library's parameters where nothing else is called so."""

    def __init__(
        self,
        library: str,
        symbols: Sequence[str],
        inputs: Sequence[tuple[TensorSpec, str]],
        outputs: Sequence[tuple[TensorSpec, str]],
    ):
        taken = set(_OF_EXAMPLE)
        self.library = library
        self.symbols = {symbol: _fresh(symbol, taken) for symbol in symbols}
        self.inputs = [_Tensor(spec, name, _fresh(name, taken)) for spec, name in inputs]
        self.outputs = [_Tensor(spec, name, _fresh(name, taken)) for spec, name in outputs]
        self.sizes = ", ".join(self.symbols.values())

    def texts(self) -> dict[str, str]:
        """What the template is filled with."""
        usage = [f" [{symbol}=SIZE]" for symbol in self.symbols]
        usage += [f" [{tensor.name}=FILE]" for tensor in self.inputs]
        known = [*self.symbols, *(tensor.name for tensor in self.inputs)]
        return {
            "usage": "".join([*usage, " [threads=COUNT] [parameters=FILE]"]),
            "names": "".join(f"{_quoted(name)}, " for name in known),
            "size_variables": "".join(
                f"  const int64_t {variable} = number(given(count, words, {_quoted(symbol)}), 1);\n"
                for symbol, variable in self.symbols.items()
            ),
            "input_code": "\n".join(map(self._input_code, self.inputs)),
            "output_code": "".join(map(self._memory_code, self.outputs)),
            "result_code": "".join(map(self._result_code, self.outputs)),
            "arguments": ", ".join([*(t.variable for t in (*self.inputs, *self.outputs)), *self.symbols.values()]),
        }

    def _count(self, tensor: _Tensor) -> str:
        return f"{self.library}_{tensor.name}_elements({self.sizes})"

    def _memory_code(self, tensor: _Tensor) -> str:
        return (
            f"  {_type(tensor.spec)} *{tensor.variable} = memory({self._count(tensor)}, sizeof *{tensor.variable});\n"
        )

    def _input_code(self, tensor: _Tensor) -> str:
        x, count, type_ = tensor.variable, self._count(tensor), _type(tensor.spec)
        fill = ""
        if type_ in ("float", "double"):
            fill = f"  for (int64_t i = 0; i < {count}; ++i) {x}[i] = ({type_})(i % 17) / 8 - 1;\n"
        file = f"given(count, words, {_quoted(tensor.name)})"
        return f"{self._memory_code(tensor)}{fill}  read_numbers({file}, {x}, {count}, sizeof *{x});\n"

    def _result_code(self, tensor: _Tensor) -> str:
        x, count = tensor.variable, self._count(tensor)
        format_, value = ("0x%04x", f"{x}[i]") if "float16" in tensor.spec.dtype else ("%g", f"(double){x}[i]")
        return (
            f'  printf("{tensor.name} ({_described(tensor.spec)}):");\n'
            f'  for (int64_t i = 0; i < {count} && i < 8; ++i) printf(" {format_}", {value});\n'
            f'  printf("{chr(92)}n");\n'
            f"  write_numbers({_quoted(tensor.name + '.raw')}, {x}, {count}, sizeof *{x});\n"
            f"  free({x});\n"
        )


class _Tensor(NamedTuple):
    """An input or output: what the library calls it, and the example's variable."""

    spec: TensorSpec
    name: str
    variable: str


def _fresh(name: str, taken: set[str]) -> str:
    """The identifier for a symbol or tensor, which none before has."""
    base = found = c_name(name)
    count = 1
    while found in taken:
        found, count = f"{base}_{count}", count + 1
    taken.add(found)
    return found


def _quoted(text: str) -> str:
    """A literal of C."""
    return json.dumps(text, ensure_ascii=False).replace("??", "?\\?")  # no trigraphs


def _type(spec: TensorSpec) -> str:
    return _C_TYPES[spec.dtype]


def _described(spec: TensorSpec) -> str:
    return f"{spec.dtype} [{', '.join(map(str, spec.shape))}]"


def _product(dims: Sequence[Dim]) -> Expr:
    return prod((const(dim) if isinstance(dim, int) else parse(dim) for dim in dims), start=const(1))


def _shape_parameter(spec: TensorSpec) -> str:
    return f"int64_t shape[{len(spec.shape)}]" if spec.shape else "int64_t *shape"


def _with_sizes(first: str, symbols: Iterable[str]) -> str:
    """A list of parameters, and behind them the sizes."""
    return ", ".join([first, *(f"int64_t {symbol}" for symbol in symbols)])
