"""How the small CLIP inside openworld was trained: pictures, captions, tokens, augmentation, losses, export."""
