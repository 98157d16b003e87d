"""This package makes functions of schedules."""

from tilework.compat.tvm.driver import build_module
from tilework.compat.tvm.driver.build_module import build, lower, schedule_to_module

__all__ = ["build", "build_module", "lower", "schedule_to_module"]
