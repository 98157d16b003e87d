"""The folder of the repository whose tests run."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
