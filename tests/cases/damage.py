"""Small damage to a file, at random: what every reader of files has to survive."""


def damaged(content, rng, pieces):
    """One byte changed, some removed, one of the pieces put in, or the rest cut off."""
    changed = bytearray(content)
    kind, place = rng.integers(4), int(rng.integers(len(content)))
    if kind == 0:
        changed[place] = rng.integers(256)
    elif kind == 1:
        del changed[place : place + int(rng.integers(1, 30))]
    elif kind == 2:
        changed[place:place] = rng.choice(pieces)
    else:
        del changed[place:]
    return bytes(changed)
