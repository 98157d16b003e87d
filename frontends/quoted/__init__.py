"""Functions of Python that are read, not run: what they say about tables becomes a program."""
