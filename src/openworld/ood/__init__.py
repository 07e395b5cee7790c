"""Which detector sees what is out of distribution: on named sets, by cells of shift, on images of one's own."""
