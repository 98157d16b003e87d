"""Templates as in AutoTVM: functions that make a schedule and ask a configuration for what may be chosen."""
