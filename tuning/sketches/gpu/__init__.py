"""Rules that say in which ways a device with blocks of threads may run a stage."""
