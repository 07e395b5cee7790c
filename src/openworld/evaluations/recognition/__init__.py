"""OpenworldAUC and its parts on base and new classes, learner by learner."""
