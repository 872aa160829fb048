"""Triggers of retraining: what changed at columns that a model is made of, once for each cause."""
