"""What the commands do, as functions that return objects; `import openworld as ow` offers them, see there.

run, reproduce          an evaluation by its spec; a paper's tables
score                   predictions of your own
label_plan, label_read  which few images to label, and what is then known
estimate, shift         your own model and data, without labels; how far data is from other data
detect                  which detector sees what is out of distribution
predict, decide         a fitted learner on images; the threshold to run it with
open_run, compare       finished runs

Every function takes what its command takes, under the same names and with the same defaults, refuses with the same
sentences (`OpenworldError`), and shows how far it is.
"""
