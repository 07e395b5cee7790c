"""How the small CLIP inside openworld was trained: images, captions, tokens, augmentation, losses, export."""
