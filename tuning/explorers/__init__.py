"""Explorers: ways to choose which candidates to measure next."""
