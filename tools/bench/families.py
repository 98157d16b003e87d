"""The families of targets whose machines are simulated: each has a folder beside this file."""

from pathlib import Path

SIMULATED = sorted(file.parent.name for file in Path(__file__).parent.glob("*/report.py"))
