"""Accuracy without labels, of a model on a person's own target images."""
