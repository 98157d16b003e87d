"""Rules that say in which ways a processor may run a stage."""
