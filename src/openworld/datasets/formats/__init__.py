"""Image sets in the forms in which they lie on a disk or a hub: folders, lists, tar archives, arrays, split files."""
