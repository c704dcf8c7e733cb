"""R16: robot code that moves unchanged from a simulator to a robot. [Goncalves, Lima, Malheiros & Costa 2009]"""
