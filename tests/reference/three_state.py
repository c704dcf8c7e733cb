"""Algorithm 1 of 3SMCL for one rover, line by line, slow and plain. [Abrate et al. 2009]"""

GLOBAL, TRACKING, UNDECIDED = 0, 1, 2


def instant(flag, count, residuals, apart, machine, thresholds, windows):
    """(flag, count) after an instant with reports. residuals: the newest first."""
    g2u, u2p, u2g, p2u = thresholds
    n_u2p, n_u2g, n_p2u = windows

    def mu(n):
        return sum(residuals[:n]) / n

    if machine == "two":
        if flag == GLOBAL and count > n_u2p and mu(n_u2p) <= u2p:
            return TRACKING, 0
        if flag == TRACKING and count > n_p2u and mu(n_p2u) >= p2u:
            return GLOBAL, 0
        return flag, count
    if flag == GLOBAL:
        return (UNDECIDED, count) if apart < g2u else (GLOBAL, count)
    if flag == UNDECIDED:
        if count > n_u2p and mu(n_u2p) <= u2p:
            return TRACKING, 0
        if count > n_u2g and (mu(n_u2g) <= u2g if machine == "printed" else mu(n_u2g) >= u2g):
            return GLOBAL, 0
        return UNDECIDED, count
    if count > n_p2u and mu(n_p2u) >= p2u:
        return (GLOBAL if machine == "printed" else UNDECIDED), 0
    return TRACKING, count
