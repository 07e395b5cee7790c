"""Learners tuned on one data set, scored on its variants and on other data sets."""
