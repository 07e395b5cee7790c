"""The papers' tables as runs of the evaluations, and how their numbers are held against the printed ones."""
