"""The machine VDLA: streams of its instructions as text and as bytes, and a simulator that runs them."""
