"""Building and timing candidates, each where its failure harms nothing else."""
