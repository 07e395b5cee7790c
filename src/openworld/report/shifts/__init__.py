"""Reports on measured shift: how far one's own pictures are, in meaning and in looks."""
