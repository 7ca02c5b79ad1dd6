"""What is known: comparisons become a posterior over scores, and a belief that shrinks with each answer."""
