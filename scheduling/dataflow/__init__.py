"""The primitives that rewrite te, one a file; `schedule-apply-dataflow` applies them."""
