"""What estimators of open-world quality have in common."""
