"""Ed25519 signatures (RFC 8032, 5.1), verified strictly ("Keys").

Strictly means: the equation without cofactor, S below L, only canonical encodings,
and a key and an R that lie in the subgroup of prime order L and are not its neutral element.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Optional

# A point in extended coordinates (X, Y, Z, T): x = X/Z, y = Y/Z, x*y = T/Z (RFC 8032, 5.1.4).
Point = tuple[int, int, int, int]

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL: Point = (0, 1, 1, 0)


def add(p: Point, q: Point) -> Point:
    """Add two points (RFC 8032, 5.1.4). The formulas are complete."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def double(p: Point) -> Point:
    """Double a point (RFC 8032, 5.1.4)."""
    a = p[0] * p[0] % P
    b = p[1] * p[1] % P
    c = 2 * p[2] * p[2] % P
    h = a + b
    e = h - (p[0] + p[1]) * (p[0] + p[1]) % P
    g = a - b
    f = c + g
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def negate(p: Point) -> Point:
    """Return -p."""
    return (-p[0] % P, p[1], p[2], -p[3] % P)


def multiply_two(s: int, p: Point, k: int, q: Point) -> Point:
    """Return s*p + k*q, one bit of both numbers at a time, from the highest."""
    both = add(p, q)
    total = NEUTRAL
    for position in range(max(s.bit_length(), k.bit_length()) - 1, -1, -1):
        total = double(total)
        s_bit, k_bit = s >> position & 1, k >> position & 1
        if s_bit and k_bit:
            total = add(total, both)
        elif s_bit:
            total = add(total, p)
        elif k_bit:
            total = add(total, q)
    return total


def is_neutral(p: Point) -> bool:
    """Say if this is the neutral element, (0, 1)."""
    return p[0] % P == 0 and (p[1] - p[2]) % P == 0


def encode(p: Point) -> bytes:
    """Encode a point (RFC 8032, 5.1.2). The encoding is the canonical one."""
    inverse = pow(p[2], -1, P)
    x, y = p[0] * inverse % P, p[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(data: bytes) -> Optional[Point]:
    """Decode a point (RFC 8032, 5.1.3), or return None if it is not a canonical encoding."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if len(data) != 32 or y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x + u) % P == 0:
        x = x * SQRT_MINUS_ONE % P
    if (v * x * x - u) % P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def _base_point() -> Point:
    """Return the base point B: its y is 4/5, its x is even (RFC 8032, 5.1)."""
    point = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    assert point is not None
    return point


B = _base_point()


@lru_cache(maxsize=256)
def decode_key(public_key: bytes) -> Optional[Point]:
    """Decode a public key, or return None if it is not a point of the order L."""
    point = decode(public_key)
    if point is None or is_neutral(point):
        return None
    return point if is_neutral(multiply_two(L, point, 0, NEUTRAL)) else None


def is_good_key(public_key: bytes) -> bool:
    """Say if this is a canonical public key without a small-order component."""
    return decode_key(public_key) is not None


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Verify a signature (RFC 8032, 5.1.7, without cofactor).

    The key A has the order L, so S*B - k*A is in the subgroup of order L. If its canonical
    encoding is that of R, then R is canonical too and has no small-order component.
    """
    a = decode_key(public_key)
    if a is None or len(signature) != 64:
        return False
    s = int.from_bytes(signature[32:], "little")
    if s >= L:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    k = int.from_bytes(digest, "little") % L
    r = multiply_two(s, B, k, negate(a))
    return not is_neutral(r) and encode(r) == signature[:32]
