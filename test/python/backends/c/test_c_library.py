"""Folders of C with a compiled model: built by `make`, run by their example, embedded in programs of one's own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import WARNINGS, need_compiler, run
from c_folders import example, make, need_emulator, write
from places import ROOT

import tilework as tw
from tilework.algebra.errors import UsageError
from tilework.runtime.c_library import write_library
from tilework.runtime.cache import KernelCache
from tilework.runtime.manifest import Manifest
from tilework.runtime.tensor_spec import TensorSpec

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def images(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, 1, 8, 8)).astype(np.float32)


# -- of this machine


@pytest.mark.parametrize("target", ["c", "llvm"])
def test_the_example_computes_what_the_module_does(target: str, tmp_path: Path, cache: KernelCache):
    m = write(DIGITS, tmp_path, "digits", target, cache)
    make(tmp_path)
    reference = tw.compile(DIGITS, cache=cache)
    for n in (0, 1, 5):
        x = images(n)
        found = [example(tmp_path, m, {"images": x}, f"threads={t}")["probabilities"] for t in (1, 2, 3)]
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0])
        np.testing.assert_allclose(found[0].reshape(n, 10), reference(x), rtol=1e-5, atol=1e-6)


def test_without_threads(tmp_path: Path, cache: KernelCache):
    m = write(DIGITS, tmp_path, "digits", "c -mcpu=haswell", cache)
    make(tmp_path, "THREADS=no")
    x = images(4)
    found = example(tmp_path, m, {"images": x}, "threads=4")["probabilities"]
    np.testing.assert_allclose(found.reshape(4, 10), tw.compile(DIGITS, cache=cache)(x), rtol=1e-5, atol=1e-6)


def test_parameters_are_read_where_files_are_not_mapped(tmp_path: Path, cache: KernelCache):
    m = write(DIGITS, tmp_path, "digits", "c -mcpu=haswell", cache)
    make(tmp_path, "CFLAGS=-O0 -Werror -U__unix__")
    x = images(2)
    found = example(tmp_path, m, {"images": x})["probabilities"]
    np.testing.assert_allclose(found.reshape(2, 10), tw.compile(DIGITS, cache=cache)(x), rtol=1e-5, atol=1e-6)


def test_the_example_refuses_what_it_does_not_know(tmp_path: Path, cache: KernelCache):
    write(DIGITS, tmp_path, "digits", "c -mcpu=haswell", cache)
    make(tmp_path)

    def refused(*words: str) -> tuple[int, str]:
        done = subprocess.run([tmp_path / "example", *words], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stderr

    assert (
        refused("M=3")[0] == 2
        and "'M=3' says nothing that the model knows; usage: ./example [N=SIZE]" in refused("M=3")[1]
    )
    assert refused("images=nowhere") == (1, "example: cannot open nowhere\n")
    assert refused("images=example.c") == (1, "example: the input has another size than the file example.c\n")
    assert refused("parameters=nowhere") == (1, "example: digits: the file of parameters cannot be opened\n")
    assert refused("N=-1") == (1, "example: a size is negative\n")


PROGRAM = """
#include "first.h"
#include "second.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(int32_t code) { printf("%s\\n", first_error(code)); }

int main(void) {
  first *a = NULL;
  second *b = NULL;
  say(first_open(&a, "nowhere"));
  say(first_open(&a, "first.h"));
  say(first_open(&a, "other.bin"));
  say(first_open(&a, "one/parameters.bin"));
  say(second_open(&b, "two/parameters.bin"));
  int64_t shape[4];
  first_images_shape(shape, 3);
  for (int axis = 0; axis < 4; ++axis) printf("%d ", (int)shape[axis]);
  printf("make %d\\n", (int)first_images_elements(3));
  float *x = calloc(first_images_elements(3), sizeof *x), *y = calloc(30, sizeof *y), *z = calloc(30, sizeof *z);
  for (int i = 0; i < 192; ++i) x[i] = (float)(i % 5);
  char *memory = malloc(first_arena_bytes(3) + 128), *arena = memory + (64 - (uintptr_t)memory % 64);
  say(first_run(a, x, y, 3, arena + 4, 1));
  say(first_run(a, x, y, -3, arena, 1));
  say(first_run(a, x, y, 3, arena, 2));
  say(second_run(b, x, z, 3, NULL, 1));
  printf("%s\\n", memcmp(y, z, 30 * sizeof *y) ? "different" : "equal");
  first_close(a);
  second_close(b);
  first_close(NULL);
  return 0;
}
"""


def test_two_models_in_one_program(tmp_path: Path, cache: KernelCache):
    need_compiler()
    for name, folder in ("first", "one"), ("second", "two"):
        write(DIGITS, tmp_path / folder, name, "c -mcpu=haswell", cache)
        make(tmp_path / folder)
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "other.bin").write_bytes(bytes((tmp_path / "one" / "parameters.bin").stat().st_size))
    shutil.copy(tmp_path / "one" / "first.h", tmp_path)
    files = ["main.c", "one/libfirst.a", "two/libsecond.a"]
    run(["gcc", *WARNINGS, "-Ione", "-Itwo", *files, "-o", "main", "-lm", "-pthread"], tmp_path)
    assert run([tmp_path / "main"], tmp_path).stdout.splitlines() == [
        "first: the file of parameters cannot be opened",
        "first: the file of parameters has another size than the model's",
        "first: the file of parameters belongs to another model",
        "no error",
        "no error",
        "3 1 8 8 make 192",
        "first: the arena is not aligned to 64 bytes",
        "first: a size is negative",
        "no error",
        "no error",
        "equal",
    ]


ENTRY = """
#include <stdint.h>

int32_t entry(void **inputs, void **outputs, void **parameters, void *arena, int64_t *symbols, int32_t threads,
              void *devices) {
  (void)devices;
  (void)parameters;
  (void)arena;
  (void)threads;
  if (symbols[0] > 8) return 1;
  for (int64_t i = 0; i < symbols[0]; ++i) {
    ((float *)outputs[0])[i] = ((float *)inputs[0])[i] + ((int8_t *)inputs[1])[i];
    ((uint16_t *)outputs[1])[i] = 0x3c00;
  }
  return 0;
}
"""


def test_names_that_c_does_not_take(tmp_path: Path):
    """Tensors and symbols may be called as words of C are, as variables of the templates, or with other letters."""
    inputs = TensorSpec("int", "float32", ("code",)), TensorSpec("free", "int8", ("code",))
    outputs = TensorSpec("näh", "float32", ("code",)), TensorSpec("main", "float16", ("code", 1))
    scalar = TensorSpec("a/b", "bool", ())
    messages = {1: 'so "many"??/ are \\ too many'}
    manifest = Manifest("c", (*inputs, scalar), outputs, (), ("code",), "64 * (code floordiv 3)", 0, messages, "entry")
    write_library(tmp_path, "my_model", manifest, [ENTRY.encode()], {})
    make(tmp_path)
    (tmp_path / "x").write_bytes(np.array([1, 2], np.float32).tobytes())
    (tmp_path / "y").write_bytes(np.array([-3, 4], np.int8).tobytes())
    shown = run([tmp_path / "example", "code=2", "int_=x", "free_=y"], tmp_path).stdout
    assert shown.splitlines()[0] == "n_e4_h (float32 [code]): -2 6"
    assert shown.splitlines()[1] == "main_ (float16 [code, 1]): 0x3c00 0x3c00"
    failed = subprocess.run([tmp_path / "example", "code=9"], cwd=tmp_path, capture_output=True, text=True)
    assert (failed.returncode, failed.stderr) == (1, f"example: my_model: {messages[1]}\n")


TAKEN = ["int", "int32_t", "exp", "stdio", "model", "host", "kernel_0", "example"]
"""Names that C has, or that the library's files and functions have inside."""


@pytest.mark.parametrize("name", TAKEN)
def test_a_folder_may_have_any_name(name: str, cache: KernelCache, tmp_path: Path):
    tw.compile(str(DIGITS), target="c", cache=cache).save_library(tmp_path / name)
    assert (tmp_path / name / f"{name}_.h").exists()


@pytest.mark.parametrize("name", [*TAKEN, "my-model", "", "3d"])
def test_names_of_libraries(name: str, tmp_path: Path):
    with pytest.raises(UsageError, match=f"'{name}' cannot name a library of C: use letters, digits and underscores"):
        write_library(tmp_path, name, Manifest("c", (), ()), [b""], {})


def test_the_header_is_one_for_cpp_too(tmp_path: Path, cache: KernelCache):
    if shutil.which("g++") is None:
        pytest.skip("there is no g++ on this machine")
    write(DIGITS, tmp_path, "digits", "c -mcpu=haswell", cache)
    run(["g++", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-x", "c++", "digits.h"], tmp_path)


# -- of other machines


@pytest.mark.parametrize(
    ("architecture", "target"),
    [
        ("aarch64", "c -mtriple=aarch64-linux-gnu"),
        ("aarch64", "llvm -mtriple=aarch64-linux-gnu"),
        ("riscv64", "c -mcpu=x86-64"),
    ],
)
def test_cross_compiled(architecture: str, target: str, tmp_path: Path, cache: KernelCache):
    emulator = need_emulator(architecture)
    m = write(DIGITS, tmp_path, "digits", target, cache)
    make(tmp_path, "LDFLAGS=-static", compiler=f"{architecture}-linux-gnu-gcc")
    x = images(3)
    found = example(tmp_path, m, {"images": x}, "threads=2", runner=emulator)["probabilities"]
    np.testing.assert_allclose(found.reshape(3, 10), tw.compile(DIGITS, cache=cache)(x), rtol=1e-5, atol=1e-6)
