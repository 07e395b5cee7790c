"""Which out-of-distribution detector works on one's own model and images: `openworld detect`."""
