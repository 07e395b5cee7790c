"""The dynamic robustness curve of a stream without labels: accuracy level by level, and what its shape is."""
