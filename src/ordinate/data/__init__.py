"""What goes in and comes out: items, comparisons, orderings, sets of pairs, and the files and tables they are in."""
