"""What estimators share: model outputs, estimates, calibration, bootstrap, transport."""
