"""The figures of detection by measured shift."""
