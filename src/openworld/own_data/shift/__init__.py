"""Covariate and semantic shift of a person's own images against a reference."""
