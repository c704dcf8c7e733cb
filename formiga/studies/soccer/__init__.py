"""S2, robot soccer: collisions of a multi-agent simulator [Klancar et al. 2003]"""
