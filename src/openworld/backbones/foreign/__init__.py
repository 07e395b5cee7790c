"""Dual encoders whose towers are not ours: another library's, somebody's own, and embeddings in the place of a model.

    "transformers:REPOSITORY", "open_clip:MODEL/WEIGHTS"    run by these libraries
    "package.module:function"                               what a function of the user's own returns (`of_objects`)
    "FILE.npz", "FILE.parquet"                              embeddings of class names (`of_objects`)

They embed images and sentences, no more: what enters a tower (learned contexts, rows among patches) or comes out of
its middle (patch features) needs towers of ours. The libraries are extras and imported when a model of them is asked
for; so is torch.
"""
