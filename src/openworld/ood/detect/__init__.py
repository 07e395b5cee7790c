"""Which detector sees what is out of distribution: scores, a model with images, or thresholds that are applied."""
