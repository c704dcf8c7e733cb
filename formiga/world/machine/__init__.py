"""Machine files of others: which files belong to one, what they may hold, and the trial that each has to pass."""
