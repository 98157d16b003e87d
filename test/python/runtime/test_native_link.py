"""LLVM IR to object code to functions in this process."""

import ctypes

import pytest

from tilework.runtime.devices.llvm.compile import LLVMError, assembly, compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target

HASWELL = parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell")
SQUARE = "define i32 @square(i32 %x) {\n  %y = mul i32 %x, %x\n  ret i32 %y\n}\n"
CALLER = """
declare i32 @square(i32)
declare double @pow(double, double)
define double @both(i32 %x) {
  %y = call i32 @square(i32 %x)
  %z = sitofp i32 %y to double
  %p = call double @pow(double %z, double 1.5)
  ret double %p
}
"""


def test_objects_find_each_other_and_libm():
    library = load_objects([compile_ir(text, host_target()) for text in (CALLER, SQUARE)])
    both = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int32)(library.get_function("both"))
    assert both(4) == 64.0


def test_two_libraries_may_define_the_same_name():
    libraries = [
        load_objects([compile_ir(f"define i32 @f() {{ ret i32 {value} }}", host_target())]) for value in (1, 2)
    ]
    assert [ctypes.CFUNCTYPE(ctypes.c_int32)(library.get_function("f"))() for library in libraries] == [1, 2]


def test_a_missing_function_is_named(capfd: pytest.CaptureFixture[str]):
    library = load_objects([compile_ir(SQUARE, host_target())])
    with pytest.raises(LookupError, match="no function 'cube' in the linked objects"):
        library.get_function("cube")


def test_a_syntax_error_shows_the_line():
    with pytest.raises(LLVMError, match=r"(?s):2:7: error: value doesn't match.*  ret i32 0"):
        compile_ir("define void @f() {\n  ret i32 0\n}", host_target())


def test_an_invalid_module_shows_the_instruction():
    text = "define i32 @f() {\n  br label %end\nend:\n  %a = add i32 %b, 1\n  %b = add i32 1, 2\n  ret i32 %a\n}"
    with pytest.raises(LLVMError, match="(?s)does not dominate all uses.*%a = add i32 %b, 1"):
        compile_ir(text, host_target())


def test_assembly_follows_the_target():
    wide = """
    define void @f(ptr %p) {
      %x = load <16 x float>, ptr %p, align 4
      %y = fadd <16 x float> %x, %x
      store <16 x float> %y, ptr %p, align 4
      ret void
    }"""
    assert "%zmm0" in assembly(wide, parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5"))
    assert "%ymm1" in assembly(wide, HASWELL)
    assert "fadd\tv0.4s" in assembly(wide, parse_target("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1"))


def test_unrolling_asked_for_by_metadata_is_done_at_each_level_that_runs_passes():
    loop = """
    define void @f(ptr %p) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [0, %entry], [%next, %loop]
      %q = getelementptr float, ptr %p, i64 %i
      store float 1.0, ptr %q
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, 3
      br i1 %more, label %loop, label %end, !llvm.loop !0
    end:
      ret void
    }
    !0 = distinct !{!0, !1}
    !1 = !{!"llvm.loop.unroll.full"}
    """
    jumps = [("\tj" in assembly(loop, HASWELL, opt_level)) for opt_level in (0, 1, 2, 3)]
    assert jumps == [True, False, False, False]


def test_a_sum_of_floats_is_not_reordered():
    loop = """
    define float @f(ptr %p, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [0, %entry], [%next, %loop]
      %sum = phi float [0.0, %entry], [%sum1, %loop]
      %q = getelementptr float, ptr %p, i64 %i
      %x = load float, ptr %q
      %sum1 = fadd float %sum, %x
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret float %sum1
    }
    """
    written = assembly(loop, HASWELL)
    assert "vaddss" in written and "vaddps" not in written
