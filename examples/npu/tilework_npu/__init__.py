"""A toy accelerator for Tilework: it multiplies 8 x 8 bytes by 8 bytes, and does nothing else."""
