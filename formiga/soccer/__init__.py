"""Robot soccer: a referee, a camera, and team programs that run in processes of their own. [Klancar et al. 2003]"""
