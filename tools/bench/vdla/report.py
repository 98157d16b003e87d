"""What a simulator reports of kernels, as JSON values."""

from __future__ import annotations

from typing import Any

from tilework.runtime.devices.device import Device
from tilework.runtime.devices.vdla.device import VdlaDevice
from tilework.runtime.devices.vdla.report import RunReport

BUSY = 0.75
"""A unit that is busy for so large a part of a run is what bounds it; where none is, dependences do."""


def reports_of(device: Device) -> dict[str, dict[str, Any]]:
    """A run of each kernel that has run on a device, by what the kernel is called."""
    assert isinstance(device, VdlaDevice)
    return {label: report_values(report) for label, _, report in device.report()}


def report_values(report: RunReport) -> dict[str, Any]:
    """A run as JSON values. bound: what keeps it from being faster."""
    return {
        "cycles": report.cycles,
        "microseconds": report.seconds * 1e6,
        "gemm_cycles": report.gemm_cycles,
        "utilisation": report.utilisation,
        "bound": bound_of(report),
        "dram_bytes": dict(report.dram_bytes),
        "units": {
            unit.value: {"busy": spent.busy, "waited": dict(spent.waited), "after": spent.after}
            for unit, spent in report.units.items()
        },
    }


def bound_of(report: RunReport) -> str:
    """The unit that is busy for most of a run, "load", "compute" or "store"; "dependences" where all of them wait."""
    busiest = max(report.units, key=lambda unit: report.units[unit].busy)
    return busiest.value if report.units[busiest].busy >= BUSY * report.cycles else "dependences"
