"""What learners share: text features, training, fitted learners and their files, published settings, predictions."""
