"""The figures of recognition by measured shift."""
