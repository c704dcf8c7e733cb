"""R16: localization and navigation code that moves unchanged from a simulator to a robot. [Goncalves, Lima, Malheiros & Costa 2009]"""
