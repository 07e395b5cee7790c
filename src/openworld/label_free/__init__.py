"""How accurate a model is where there are no labels: now, over time, by level of shift; and estimators compared."""
