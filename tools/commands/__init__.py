"""The commands of `tilework`, one a file: see `tilework.tools.cli`."""
