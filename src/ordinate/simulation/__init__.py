"""Try algorithms without people: simulated or recorded annotators, error measures, runs over seeds, plots, the demo."""
