"""Team programs that come with formiga, each started in a process of its own. They use soccer.team and nothing else."""
