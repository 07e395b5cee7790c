"""The figures of accuracy estimation."""
