"""An open-world stream: what a learner says of images of which nobody knows whether they are of base or of new classes.

A file (.parquet, .csv, .npz, .safetensors) or arrays, with an entry per image:

    logits                      over base names, then new names, scale included; see `columns` for the names
    base_logits, new_logits     within a half, for learners that name base images by other logits (GMoP, DePT, DeCoOp)
    score                       detection score, larger = more base-like; default: log of the largest base softmax
    base_name, new_name         without logits: the name as a base image, the name as a new one
    joint_name                  perhaps: the name among all names
    base, base_right, new_right perhaps: P(base), P(base and base_name right), P(new and new_name right), in [0, 1]
    reference, or zero_shot     perhaps: similarities of another model to all names; zero_shot of the one that was tuned
    image, id, group, time, level   perhaps: path; number or text that no other image has; images that belong together;
                                time stamp; level of a shift
    side, label                 where they are known: "base" or "new", and the true class, empty for images without

A stream is read block by block. Without logits it holds numbers and codes of names alone.
"""

from openworld.applications.open_world_stream.reading import read_stream as read_stream
from openworld.applications.open_world_stream.stream import OpenWorldStream as OpenWorldStream
from openworld.applications.open_world_stream.stream import StreamLabels as StreamLabels
from openworld.applications.open_world_stream.writing import write_stream as write_stream
