"""Fuzzing of schedules: random kernels under random schedules must equal te or be refused, never differ or crash."""
