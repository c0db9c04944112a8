"""Signs as RFC 8032, 5.1, says: slow, and not for keys that matter, since its time depends on them."""
import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)


def _recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_1 % P
    return x if x % 2 == sign else P - x


_BASE_Y = 4 * pow(5, -1, P) % P
_BASE = (_recover_x(_BASE_Y, 0), _BASE_Y)


def _add(a, b):
    (x1, y1), (x2, y2) = a, b
    product = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P)


def _times(scalar, point):
    sum_ = (0, 1)
    while scalar:
        if scalar % 2:
            sum_ = _add(sum_, point)
        point, scalar = _add(point, point), scalar // 2
    return sum_


def _encode(point):
    x, y = point
    return (y | (x % 2) << 255).to_bytes(32, "little")


def _number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _expand(seed):
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return (scalar & ((1 << 254) - 8)) | (1 << 254), digest[32:]


def public_key(seed):
    return _encode(_times(_expand(seed)[0], _BASE))


def sign(seed, message):
    scalar, prefix = _expand(seed)
    key = public_key(seed)
    nonce = _number(prefix, message) % ORDER
    r = _encode(_times(nonce, _BASE))
    s = (nonce + _number(r, key, message) * scalar) % ORDER
    return r + s.to_bytes(32, "little")
