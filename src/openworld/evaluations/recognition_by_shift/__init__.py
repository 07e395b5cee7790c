"""Open-world recognition over a pool divided by measured shift."""
