"""Open-world quality without labels: OpenworldAUC and its parts of a learner on a stream, premise by premise."""
