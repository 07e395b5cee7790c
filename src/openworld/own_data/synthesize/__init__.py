"""Images generated to order at measured shift."""
