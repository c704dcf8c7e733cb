"""Contact model `impulse`: bodies with mass that hit, push and hold each other. [Klancar et al. 2003]

    outline.py   an outline -> convex parts, inertia
    bodies.py    world -> tables of bodies, parts and joints; working memory
    parts.py     two convex parts -> gap, normal, contact points
    impact.py    contact -> impulse: impacts, resting contacts, welds and pins
    forces.py    motors, rolling, sliding
    pairs.py     bodies that are near each other
    beams.py     what range sensors see of it
    advance.py   the step: impacts, forces, rest, move, step back, part
"""
