"""R01: three-state collaborative localization in a building that looks the same after half a turn. [Abrate et al. 2009]"""
