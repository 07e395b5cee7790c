"""OpenworldAUC's tables of generalisation are read as those of recognition, whose records may be among the runs."""

from openworld.evaluations.recognition.paper import read as read
