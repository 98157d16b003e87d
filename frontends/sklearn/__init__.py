"""Objects of scikit-learn as programs on tables."""
