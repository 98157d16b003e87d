"""Artefacts: a module saved and loaded, in this process and in a fresh one; files that are none."""

import copy
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime import artifact
from tilework.runtime.artifact import FORMAT, Artifact, read_artifact, write_artifact
from tilework.runtime.compatibility import check_runs_on
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.manifest import Manifest, TensorSpec
from tilework.runtime.module import Module
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target

# The main function returns the last element of w, through a second object.
MAIN = """
declare float @last(ptr)
define i32 @tilework_main(ptr %inputs, ptr %outputs, ptr %parameters, ptr %arena, ptr %symbols, i32 %num_threads) {
  %w.at = getelementptr ptr, ptr %parameters, i64 1
  %w = load ptr, ptr %w.at
  %value = call float @last(ptr %w)
  %y = load ptr, ptr %outputs
  store float %value, ptr %y
  ret i32 0
}
"""
LAST = """
define float @last(ptr %w) {
  %at = getelementptr float, ptr %w, i64 999
  %value = load float, ptr %at
  ret float %value
}
"""
PARAMETERS = {
    "odd": np.arange(7, dtype=np.int8),
    "w": np.arange(1000, dtype=np.float32),
    "none": np.empty((0, 3), np.float64),
    "flag": np.array(True),
}


def module(**changes: object) -> Module:
    specs = tuple(TensorSpec(name, array.dtype.name, array.shape) for name, array in PARAMETERS.items())
    fields: dict[str, object] = dict(
        target=str(host_target()),
        inputs=(TensorSpec("x", "float32", ("N", 3)),),
        outputs=(TensorSpec("y", "float32", ()),),
        parameters=specs,
        symbols=("N",),
        arena_bytes="4 * N",
        kernels=1,
        messages={1: "no"},
    )
    return Module(
        Manifest(**{**fields, **changes}), [compile_ir(text, host_target()) for text in (MAIN, LAST)], PARAMETERS
    )


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.tw"
    module().save(path)
    return path


X = np.zeros((2, 3), np.float32)


def test_a_process_that_runs_an_artefact_imports_no_compiler(tmp_path: Path):
    """Neither what compiles nor xDSL, which takes most of the time that importing takes."""
    module().save(tmp_path / "model.tw")
    program = (
        "import sys, numpy as np, tilework as tw\n"
        f"m = tw.load({str(tmp_path / 'model.tw')!r})\n"
        "m(np.ones((4, 3), np.float32))\n"
        "ours = {name.split('.')[1] for name in sys.modules if name.startswith('tilework.')}\n"
        "print(*sorted(ours), 'xdsl' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *imported, has_xdsl = done.stdout.split()
    assert has_xdsl == "False"
    assert set(imported) <= {"algebra", "targets", "runtime", "plugins", "api", "module"}


def test_a_loaded_module_equals_the_saved_one(saved: Path):
    loaded = Module.load(saved)
    assert loaded.manifest == module().manifest
    assert loaded.objects == module().objects
    for name, array in PARAMETERS.items():
        assert loaded.parameters[name].dtype == array.dtype and np.array_equal(loaded.parameters[name], array)
    assert loaded(X) == 999.0


def test_it_runs_from_anywhere_in_a_fresh_process_that_compiles_nothing(saved: Path, tmp_path: Path):
    moved = tmp_path / "elsewhere" / "renamed.tw"
    moved.parent.mkdir()
    shutil.move(saved, moved)
    program = (
        "import sys, numpy as np; from tilework.runtime.module import Module\n"
        "assert Module.load(sys.argv[1])(np.zeros((2, 3), np.float32)) == 999\n"
        "loaded = [name for name in ('xdsl', 'onnx', 'tilework.runtime.devices.llvm.compile') if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(moved)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_parameters_are_used_where_they_lie_in_the_file(saved: Path):
    mapped = read_artifact(saved).parameters["w"]
    assert Module.load(saved).parameters["w"].base is not None
    assert mapped.ctypes.data % 64 == 0 and not mapped.flags.writeable


def test_other_tools_read_the_parameters(saved: Path):
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        tensors = safetensors.numpy.load(archive.read("parameters.safetensors"))
    assert tensors.keys() == PARAMETERS.keys() and np.array_equal(tensors["w"], PARAMETERS["w"])


def test_a_repacked_archive_still_loads(saved: Path, tmp_path: Path):
    """Another tool may put the parameters at any offset: then they are copied."""
    repacked = tmp_path / "repacked.tw"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(repacked, "w") as new:
        new.writestr("note.txt", "x" * 13)
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert Module.load(repacked)(X) == 999.0


def test_saving_over_a_file_in_use_is_safe(saved: Path):
    loaded = Module.load(saved)
    loaded.save(saved)
    assert loaded(X) == Module.load(saved)(X) == 999.0
    assert os.listdir(saved.parent) == ["model.tw"]


def test_a_failed_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch):
    before = saved.read_bytes()

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artifact, "write_tensors", fail)
    with pytest.raises(TileworkError, match="cannot write .*model.tw: No space left on device"):
        module().save(saved)
    assert saved.read_bytes() == before and os.listdir(saved.parent) == ["model.tw"]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(TileworkError, match="cannot write .*absent/model.tw: No such file or directory"):
        module().save(tmp_path / "absent" / "model.tw")
    with pytest.raises(TileworkError, match="cannot read .*absent.tw: No such file or directory"):
        Module.load(tmp_path / "absent.tw")


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_folder_is_no_file_to_write(path: str):
    with pytest.raises(TileworkError, match="cannot write [./]: it is a folder"):
        module().save(path)


@pytest.mark.parametrize("fraction", [0.001, 0.3, 0.9, 0.9999])
def test_a_truncated_file_is_refused(saved: Path, fraction: float):
    saved.write_bytes(saved.read_bytes()[: int(saved.stat().st_size * fraction)])
    with pytest.raises(TileworkError, match="model.tw is damaged or truncated .*: save the module again"):
        Module.load(saved)


def test_damaged_names_and_shapes_of_parameters_are_noticed(saved: Path):
    """The bytes that are read nowhere but in the map have no checksum that is looked at."""
    content, damaged = saved.read_bytes(), saved.with_name("damaged.tw")
    begin = content.index(b'{"none":')
    for position in range(begin, content.index(b"}}", begin) + 2):
        damaged.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        with pytest.raises(TileworkError, match="damaged.tw is damaged or truncated .*: save the module again"):
            Module.load(damaged)


def test_an_archive_with_other_flags_is_refused(saved: Path):
    """Flags and compression of the manifest, which is the first file, in the directory at the end."""
    content = bytearray(saved.read_bytes())
    directory = content.index(b"PK\x01\x02")
    for position, value in ((8, 1), (10, 8), (10, 99)):  # encrypted, compressed, compressed in an unknown way
        damaged = bytearray(content)
        for header, offset in ((0, position - 2), (directory, position)):
            damaged[header + offset] = value
        saved.write_bytes(damaged)
        with pytest.raises(TileworkError, match="damaged or truncated"):
            Module.load(saved)


def test_damaged_code_is_refused(saved: Path):
    content = bytearray(saved.read_bytes())
    content[content.index(b"\x7fELF") + 100] ^= 0xFF
    saved.write_bytes(content)
    with pytest.raises(TileworkError, match="damaged or truncated .Bad CRC-32 for file 'objects/0.o'"):
        Module.load(saved)


@pytest.mark.parametrize("content", [b"", b"\x08\x07\x12\x04onnx" * 100])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(TileworkError, match="model.onnx is not a Tilework artefact: write one with Module.save"):
        Module.load(tmp_path / "model.onnx")


def test_a_foreign_archive_is_refused(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr("x.npy", b"")
    with pytest.raises(TileworkError, match="data.npz is not a Tilework artefact: it has no manifest.json"):
        Module.load(tmp_path / "data.npz")
    for manifest in ({"format": "of my own"}, []):
        with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest))
        with pytest.raises(TileworkError, match="not a Tilework artefact: its manifest.json names no format"):
            Module.load(tmp_path / "data.npz")


@pytest.mark.parametrize(("written", "advice"), [(FORMAT + 1, "upgrade it"), (FORMAT - 1, "save the module again")])
def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, advice: str):
    monkeypatch.setattr(artifact, "FORMAT", written)
    module().save(tmp_path / "model.tw")
    monkeypatch.undo()
    message = f"saved by Tilework .* in format {written}; .* reads format {FORMAT}: {advice}"
    with pytest.raises(TileworkError, match=message):
        Module.load(tmp_path / "model.tw")


def test_a_processor_that_lacks_something_is_told_what():
    target, host = (parse_target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}") for cpu in ("cascadelake", "haswell"))
    message = r"compiled for cascadelake and uses .*avx512f.*, which this processor \(haswell\) lacks: .*-mcpu=haswell"
    with pytest.raises(TileworkError, match=message):
        check_runs_on(target, host)
    check_runs_on(host, target)


def test_another_system_is_refused():
    mac, linux = parse_target("llvm -mtriple=arm64-apple-macosx"), parse_target("llvm -mtriple=aarch64-linux-gnu")
    with pytest.raises(TileworkError, match="compiled for operating system macos, this machine has linux"):
        check_runs_on(mac, linux)


def test_loading_code_this_machine_cannot_run_fails_at_once(tmp_path: Path):
    module(target="llvm -mtriple=riscv64-linux-gnu -mcpu=generic-rv64 -mattr=+v").save(tmp_path / "model.tw")
    with pytest.raises(TileworkError, match="compiled for processor architecture riscv64"):
        Module.load(tmp_path / "model.tw")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "uint64"])
def test_every_dtype_survives(tmp_path: Path, dtype: str):
    from tilework.runtime.arrays import dtype_named

    array = np.arange(5).astype(dtype_named(dtype))
    manifest = Manifest(str(host_target()), (), (), (TensorSpec("p", dtype, (5,)),))
    write_artifact(tmp_path / "m.tw", Artifact(manifest, [], {"p": array}, b"", {}))
    again = read_artifact(tmp_path / "m.tw").parameters["p"]
    assert again.dtype == array.dtype and again.tolist() == array.tolist()


def test_an_open_file_does_for_a_path(tmp_path: Path):
    with open(tmp_path / "model.tw", "wb") as file:
        file.write(b"before it")  # a file need not be at its beginning
        module().save(file)
    with open(tmp_path / "model.tw", "rb") as file:
        file.seek(len(b"before it"))
        assert Module.load(file)(X) == 999.0
    with pytest.raises(TileworkError, match="the file is not a Tilework artefact"):
        Module.load(io.BytesIO(b"something else"))


def test_a_file_that_is_open_for_text_is_refused():
    with pytest.raises(UsageError, match="an artefact is bytes, and the file is open for text: open it with 'wb'"):
        module().save(io.StringIO())
    with pytest.raises(UsageError, match="open it with 'rb'"):
        Module.load(io.StringIO())


def test_modules_are_pickled_and_copied_with_all_they_hold():
    for again in (pickle.loads(pickle.dumps(module())), copy.deepcopy(module()), copy.copy(module())):
        assert again(X) == 999.0 and again.manifest == module().manifest


def test_a_module_of_unknown_origin_cannot_be_compact(tmp_path: Path):
    with pytest.raises(TileworkError, match="nothing is known of what the module was compiled from: compile"):
        module().save(tmp_path / "model.tw", compact=True)
