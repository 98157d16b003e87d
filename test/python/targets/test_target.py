"""Targets: the text form, what follows from features, what a machine lacks."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields, replace

import pytest
from places import ROOT

from tilework.algebra.errors import UsageError
from tilework.targets import parse_target, target_to_compile_for
from tilework.targets.cpu.host import _parse_size, host_target
from tilework.targets.cpu.machines import BY_FEATURE, BY_NAME, DEFAULT, Machine
from tilework.targets.cpu.processors import CPU_FEATURES
from tilework.targets.cpu.target import CpuTarget


@pytest.mark.parametrize(
    ("cpu", "bits", "registers"),
    [("x86-64", 128, 16), ("haswell", 256, 16), ("znver3", 256, 16), ("skylake-avx512", 512, 32), ("znver5", 512, 32)],
)
def test_vector_shape_of_x86(cpu: str, bits: int, registers: int):
    target = parse_target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    assert (target.vector_bits, target.vector_registers, target.lanes(32)) == (bits, registers, bits // 32)


def test_vector_shape_of_arm():
    target = parse_target("llvm -mtriple=arm64-apple-macosx -mcpu=apple-m1")
    assert (target.architecture, target.vector_bits, target.vector_registers) == ("aarch64", 128, 32)


@pytest.mark.parametrize(("cpu", "architecture"), [("neoverse-n1", "aarch64"), ("haswell", "x86_64")])
def test_a_processor_alone_means_its_architecture(cpu: str, architecture: str):
    assert parse_target(f"llvm -mcpu={cpu}").architecture == architecture


def test_a_triple_alone_means_the_generic_processor():
    assert parse_target("llvm -mtriple=aarch64-linux-gnu").cpu == "cortex-a72"


@pytest.mark.parametrize(
    "text",
    [
        "llvm",
        "llvm -mcpu=native -num-cores=7",
        "llvm -mcpu=haswell",
        "llvm -mtriple=riscv64-linux-gnu -mcpu=generic-rv64 -mattr=+v,-c -cache-sizes=1,2,3",
        "c",
        "c -mcpu=neoverse-n1 -num-cores=3",
    ],
)
def test_text_form_reads_back(text: str):
    target = parse_target(text)
    assert parse_target(str(target)) == target


@pytest.mark.parametrize("cpu", CPU_FEATURES)
def test_every_named_processor_is_known_to_llvm(cpu: str, capfd: pytest.CaptureFixture[str]):
    import llvmlite.binding as llvm

    triple = "aarch64-linux-gnu" if "neon" in CPU_FEATURES[cpu] else "x86_64-linux-gnu"
    target = parse_target(f"llvm -mtriple={triple} -mcpu={cpu}")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=",".join(target.features))
    module = llvm.parse_assembly("define void @f() { ret void }")
    module.triple = triple
    machine.emit_object(module)
    assert "is not a recognized" not in capfd.readouterr().err


def test_host_lacks_nothing_of_itself_and_knows_its_sizes():
    host = host_target()
    assert host.missing_features(host) == ()
    assert host.cores >= 1 and all(size > 1024 for size in host.cache_bytes)


def test_missing_features_are_named():
    haswell, big = (parse_target(f"llvm -mcpu={cpu}") for cpu in ("haswell", "cascadelake"))
    assert big.missing_features(haswell) == ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", "avx512vnni")
    assert haswell.missing_features(big) == ()


def test_mattr_changes_a_named_processor():
    target = parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=-avx2,+avx512f")
    assert target.has("avx512f") and not target.has("avx2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown target '': the known kinds are 'c', 'cuda', 'llvm', 'metal', 'opencl' and 'vdla'"),
        ("fpga", "unknown target 'fpga': the known kinds are 'c', 'cuda', 'llvm', 'metal', 'opencl' and 'vdla'"),
        ("host -num-cores=2", "'host' takes no options; write 'llvm -num-cores=2'"),
        ("llvm -mpcu=haswell", "unknown option '-mpcu=haswell'; the options are -mtriple, -mcpu"),
        ("llvm -mcpu", "option '-mcpu' needs a value"),
        ("llvm -mcpu=haswell -mcpu=znver1", "option '-mcpu' is given twice"),
        (
            "llvm -mtriple=aarch64-linux-gnu -mcpu=haswell",
            "-mcpu=haswell is a processor of x86_64, -mtriple=aarch64-linux-gnu is for aarch64",
        ),
        ("llvm -mtriple=sparc-linux", "-mtriple=sparc-linux: the known architectures are x86_64, aarch64, not 'sparc'"),
        ("llvm -mcpu=native -mattr=-avx512f", "-mcpu=native is this machine as it is, without -mattr"),
        ("llvm -mcpu=native -mtriple=aarch64-linux-gnu", "this machine as it is, without -mtriple"),
        ("llvm -mcpu=hasswell", "unknown processor 'hasswell' in -mcpu: known are native, x86-64"),
        ("llvm -mcpu=haswell -mattr=avx2", "'avx2' lacks a sign; write \\+avx2"),
        ("llvm -num-cores=none", "-num-cores=none: expected a positive number"),
        ("llvm -cache-sizes=1,2", "expected 3 positive numbers separated by commas"),
        ("opencl -threads=0", "-threads needs a number that is 1 or more, as in -threads=64"),
        ("opencl -cores=all", "-cores needs a number that is 1 or more"),
        ("opencl -arch=sm_80", "unknown option '-arch=sm_80'; the options are -threads, -shared-kib, -warp, -cores"),
        ("cuda -arch=sm_80 -arch=sm_90", "option '-arch' is given twice"),
        ("cuda -arch=sm_91", "there is no architecture 'sm_91'; did you mean 'sm_90'"),
    ],
)
def test_wrong_targets_are_explained(text: str, message: str):
    with pytest.raises(UsageError, match=message):
        parse_target(text)


def test_host_and_a_kind_alone_mean_this_machine():
    assert parse_target("host") == parse_target("llvm") == host_target()
    assert str(parse_target("host")).startswith("llvm -mtriple=")
    assert parse_target("c") == replace(host_target(), kind="c")


def test_a_device_has_the_multiprocessors_of_its_architecture_unless_they_are_given():
    texts = ("cuda -arch=sm_75", "cuda -arch=sm_90", "cuda -cores=20 -arch=sm_90", "opencl -cores=4")
    assert [parse_target(text).cores for text in texts] == [40, 132, 20, 4]
    assert all(parse_target(str(parse_target(text))) == parse_target(text) for text in texts)


def test_a_text_is_read_once():
    assert parse_target("llvm -mcpu=haswell") is parse_target("llvm -mcpu=haswell")


def test_plain_c_has_no_tiles_and_no_dot_products_of_bytes():
    for cpu in ("sapphirerapids", "alderlake", "neoverse-v1"):
        compiled, written = (parse_target(f"{kind} -mcpu={cpu}") for kind in ("llvm", "c"))
        assert compiled.dot_bits > 0 and written.dot_bits == written.bfloat16_dot_bits == 0
        assert (written.multiplies_tiles, written.tile_multiplications) == (False, 0)
        assert written.features == compiled.features and written.lanes(32) == compiled.lanes(32)
        assert written.machine == compiled.machine


def test_code_for_one_kind_refuses_another():
    target = parse_target("c -mcpu=haswell")
    assert CpuTarget.of(target, "c") is target
    with pytest.raises(UsageError, match="targets of the kind 'llvm', not for 'c -mtriple=x86_64"):
        CpuTarget.of(target, "llvm")


def test_only_llvm_has_to_know_the_names():
    options = "-mtriple=x86_64-linux-gnu -mcpu=pentium5 -mattr=+sse2"
    assert target_to_compile_for(f"c {options}").cpu == "pentium5"
    with pytest.raises(UsageError, match="-mcpu: LLVM knows no processor 'pentium5'"):
        target_to_compile_for(f"llvm {options}")


def test_processors_that_nothing_else_is_known_of():
    assert parse_target("llvm -mcpu=haswell").machine is DEFAULT
    assert parse_target("llvm -mcpu=znver3").machine is DEFAULT
    assert parse_target("llvm -mcpu=znver4").machine is BY_NAME["znver4"]


def test_the_table_is_of_processors_that_may_be_named():
    for name in BY_NAME:
        assert any(cpu.startswith(name) for cpu in CPU_FEATURES), name
    for feature in BY_FEATURE:
        assert any(feature in features for features in CPU_FEATURES.values()), feature


@pytest.mark.parametrize("theme", [f.name for f in fields(Machine)])
def test_every_fact_of_a_machine_is_asked_for_and_explained(theme: str):
    facts = type(getattr(DEFAULT, theme))
    folders = (ROOT / "rules" / "cpu", ROOT / "targets" / "cpu", ROOT / "transforms", ROOT / "tuning")
    readers = "".join(f.read_text() for folder in folders for f in folder.rglob("*.py") if f.name != "machines.py")
    source = inspect.getsource(facts)
    for fact in fields(facts):
        assert re.search(rf"\.{fact.name}\b", readers), f"nobody reads {theme}.{fact.name}"
        assert re.search(rf'^    {fact.name}: .*\n    """[A-Z]', source, re.MULTILINE), f"what is {theme}.{fact.name}?"


def test_processors_that_fetch_faster():
    speeds = [parse_target(f"llvm -mcpu={cpu}").bandwidth for cpu in ("znver5", "sapphirerapids", "cortex-a72")]
    assert speeds[0].memory > speeds[2].memory > speeds[1].memory
    assert all(b.second > b.shared >= b.kept >= b.piecewise > b.memory for b in speeds)
    assert all(b.shared >= b.staying > b.memory for b in speeds)


def test_processors_whose_loads_slow_multiply_adds():
    named = [parse_target(f"llvm -mcpu={cpu}") for cpu in ("znver4", "znver5", "icelake-server", "sapphirerapids")]
    assert [t.multiplies_per_cycle == t.vectors_per_cycle for t in named] == [True, True, True, False]
    hidden = parse_target("llvm -mcpu=icelake-server -mattr=+avx512fp16")
    assert hidden.machine == named[-1].machine and hidden.bandwidth == named[-1].bandwidth
    assert parse_target("llvm -mcpu=znver5 -mattr=+avx512fp16").machine == named[1].machine


def test_processors_that_read_ahead_by_themselves():
    """C, one core of a Zen 4 that only reads: 99 GB/s from the last cache, with requests 77; from memory 34 and 26."""
    targets = [parse_target(f"llvm -mcpu={cpu}") for cpu in ("znver4", "znver5", "haswell")]
    assert [target.machine.prefetching.reads_ahead for target in targets] == [True, False, False]


def test_few_weights_stay_in_the_last_cache():
    target = parse_target("llvm -mcpu=znver5 -cache-sizes=32768,1048576,33554432")
    few, many = target.with_weights(12 << 20), target.with_weights(13 << 20)
    assert few.bandwidth.memory > many.bandwidth.memory == target.bandwidth.memory
    assert str(few) == str(target)
    large = replace(target, cache_bytes=(32 << 10, 1 << 20, 260 << 20))  # of which others have most
    assert large.with_weights(32 << 20).weights_stay and not large.with_weights(33 << 20).weights_stay


def test_sizes_as_linux_writes_them():
    assert (_parse_size("48K"), _parse_size("32M"), _parse_size("512")) == (49152, 32 << 20, 512)


def test_importing_targets_does_not_load_the_compiler():
    probe = "import sys, tilework.targets; sys.exit(any(m in sys.modules for m in ('xdsl', 'onnx')))"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
