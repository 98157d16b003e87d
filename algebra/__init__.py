"""Index arithmetic: immutable values, independent of any IR."""
