"""S1, Swarmod: a 2D s-bot simulator for evolving controllers [Vicentini & Tuci, TR/IRIDIA/2006-005]"""
