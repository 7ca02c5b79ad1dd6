"""What to ask next: strategies rate pairs by a belief, and a search finds the best one."""
