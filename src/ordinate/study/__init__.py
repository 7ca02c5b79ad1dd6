"""A study: its log folded into a state, what is learned from it, and the questions that are asked."""
