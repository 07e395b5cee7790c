"""Accuracy estimated without labels, beside the truth, over shifted target sets."""
