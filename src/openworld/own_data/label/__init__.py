"""`openworld label`: which images to label, a page to label them on, and what is then known."""
