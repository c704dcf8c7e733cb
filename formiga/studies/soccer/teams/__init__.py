"""Five beginners' teams, for the tournament of seven: each is one idea and a dozen lines."""
