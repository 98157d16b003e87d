"""What devices with blocks of threads reach: `python -m tilework.tools.bench.gpu` measures all of it in one call."""
