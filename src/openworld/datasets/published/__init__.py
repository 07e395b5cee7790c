"""The data sets that people download: where each lies, how it is read, and whether it is whole."""
