"""Sketches: schedules that rules derive for a kernel stage by stage, with knobs in place of their numbers."""
