"""What `openworld new` writes: specs of evaluations with one's own data in them, and plug-ins with their tests."""
