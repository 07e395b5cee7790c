"""The figures of estimated accuracy."""
