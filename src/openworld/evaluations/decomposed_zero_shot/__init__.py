"""Zero-shot accuracy with whole features and with their two parts."""
