"""Our numbers beside the printed ones of a paper: pairs, tests, tables and a page."""
