"""R05: probabilistic shaping, fault-tolerant localization from ranges to radio tags. [ROBOTICA 2009]"""
