"""What detectors share: activations and hooks, statistics of training images, planning of passes, serialization."""
