"""What is done with a person's own images and predictions; no spec, no paper."""
