"""Tables of scores and predictions: one reader and one writer of files (npz, safetensors, Parquet, CSV) and of frames.

Whatever is masked, missing, infinite, text in the place of a number, or a column that comes twice is refused here, for
every command and every function alike.
"""
