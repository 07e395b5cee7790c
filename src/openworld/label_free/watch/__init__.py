"""Monitoring as a daily job: a source is fitted once, and new files are added to a small state."""
