"""Class names: their forms, their meanings in WordNet, what two data sets share, and an audit of them."""
