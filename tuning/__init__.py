"""Finding fast schedules by measuring: spaces, features, cost models, searches, records."""
