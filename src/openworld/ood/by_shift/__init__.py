"""Out-of-distribution detection over a pool divided by measured shift (IS-OOD)."""
