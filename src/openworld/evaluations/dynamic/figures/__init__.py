"""The figures of dynamic scenarios."""
