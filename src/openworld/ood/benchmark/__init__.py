"""OOD detection on named sets: near, far, and shifted in appearance (as OpenOOD v1.5)."""
