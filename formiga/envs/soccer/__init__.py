"""Robot soccer to learn in: a ball, two teams, wheel speeds, goals.

    task.py      what is learned: what plays the others, how an episode starts, what is rewarded
    kernels.py   state -> observations, rewards and goals of every world; what the others do; where the robots start
    batch.py     many games, stepped together
    single.py, vector.py, parallel.py    the same as Gymnasium and PettingZoo want it
"""
