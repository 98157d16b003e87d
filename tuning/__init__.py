"""The tuner: it finds schedules by measuring candidates that rules propose and a cost model ranks."""
