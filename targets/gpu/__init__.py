"""Devices whose threads run in blocks, and share memory there."""
