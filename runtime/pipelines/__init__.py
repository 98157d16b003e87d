"""What pipelines need while they run: columns of frames, codes of dictionaries, calls of compiled modules."""
