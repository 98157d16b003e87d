"""The estimators that are known, a file for each kind: found by folder, imported when one is first looked up."""
