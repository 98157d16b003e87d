"""Discardable attributes of a `te.kernel` by which a pass asks later ones for something.

| attribute | asks |
| --- | --- |
| `te.alternating` | `schedule-to-loop`: as `te.descending`, but in every second run of the program |
| `te.descending` | `schedule-to-loop`: let parallel loops run from the last iteration to the first |
"""

KERNEL_ALTERNATING = "te.alternating"
KERNEL_DESCENDING = "te.descending"
