"""The number that CatBoost makes of a category: 32 bits of CityHash64, version 1.0, of its text.

A model of CatBoost knows its categories by this number alone, so to read a text as it does means to compute it.
"""

_MASK = (1 << 64) - 1
_K0, _K1, _K2, _K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
_MIX = 0x9DDFEA08EB382D69


def text_hash(text: str) -> int:
    """Return the number of a text, from -2**31 to 2**31 - 1.

    Examples
    --------
    >>> text_hash("a"), text_hash("")
    (-805065478, 797982799)
    """
    low = _city_hash(text.encode()) & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


def _city_hash(text: bytes) -> int:
    n = len(text)
    if n <= 16:
        return _up_to_16(text)
    if n <= 32:
        return _up_to_32(text)
    return _up_to_64(text) if n <= 64 else _longer(text)


def _word(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 8], "little")


def _rotate(number: int, by: int) -> int:
    """Return the 64 bits of a number, which may exceed them, rotated to the right."""
    number &= _MASK
    return (number >> by) | (number << (64 - by)) & _MASK


def _fold(number: int) -> int:
    number &= _MASK
    return number ^ (number >> 47)


def _two(low: int, high: int) -> int:
    """Return one number for two."""
    low, high = low & _MASK, high & _MASK
    first = _fold((low ^ high) * _MIX)
    return _fold((high ^ first) * _MIX) * _MIX & _MASK


def _up_to_16(text: bytes) -> int:
    n = len(text)
    if n > 8:
        last = _word(text, n - 8)
        return _two(_word(text, 0), _rotate(last + n, n)) ^ last
    if n >= 4:
        first, last = (int.from_bytes(text[at : at + 4], "little") for at in (0, n - 4))
        return _two(n + (first << 3), last)
    if n == 0:
        return _K2
    low, high = text[0] + (text[n >> 1] << 8), n + (text[-1] << 2)
    return _fold(low * _K2 ^ high * _K3) * _K2 & _MASK


def _up_to_32(text: bytes) -> int:
    n = len(text)
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, n - 8) * _K2, _word(text, n - 16) * _K0
    return _two(_rotate(a - b, 43) + _rotate(c, 30) + d, a + _rotate(b ^ _K3, 20) - c + n)


def _up_to_64(text: bytes) -> int:
    n = len(text)

    def half(a: int, at: int, last: int) -> tuple[int, int]:
        b, c = _rotate(a + last, 52), _rotate(a, 37)
        a += _word(text, at)
        c += _rotate(a, 7)
        a += _word(text, at + 8)
        return a + last, b + _rotate(a, 31) + c

    begin = half(_word(text, 0) + (n + _word(text, n - 16)) * _K0, 8, _word(text, 24))
    end = half(_word(text, 16) + _word(text, n - 32), n - 24, _word(text, n - 8))
    both = _fold((begin[0] + end[1]) * _K2 + (end[0] + begin[1]) * _K0)
    return _fold(both * _K0 + begin[1]) * _K2 & _MASK


def _longer(text: bytes) -> int:
    n = len(text)

    def four_words(at: int, a: int, b: int) -> tuple[int, int]:
        w, x, y, z = (_word(text, at + 8 * i) for i in range(4))
        a += w
        b = _rotate(b + a + z, 21)
        c = a
        a += x + y
        return a + z, b + _rotate(a, 44) + c

    x, y, z = _word(text, 0), _word(text, n - 16) ^ _K1, _word(text, n - 56) ^ _K0
    v, w = four_words(n - 64, n, y), four_words(n - 32, n * _K1, _K0)
    z += _fold(v[1]) * _K1
    x = _rotate(z + x, 39) * _K1
    y = _rotate(y, 33) * _K1
    for at in range(0, (n - 1) & ~63, 64):
        x = _rotate(x + y + v[0] + _word(text, at + 16), 37) * _K1
        y = _rotate(y + v[1] + _word(text, at + 48), 42) * _K1
        x, y, z = x ^ w[1], y ^ v[0], _rotate(z ^ w[0], 33)
        v = four_words(at, v[1] * _K1, x + w[0])
        w = four_words(at + 32, z + w[1], y)
        z, x = x & _MASK, z
    return _two(_two(v[0], w[0]) + _fold(y) * _K1 + z, _two(v[1], w[1]) + x)
