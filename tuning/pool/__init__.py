"""Devices on other machines: pools of workers, and boards that are reached over SSH."""
