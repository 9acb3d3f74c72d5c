"""The hash of a key: XXH64 of each value, with that of the values before it as its seed; a null adds nothing.

The algorithm is that of the xxHash specification. How values become bytes is Spark's choice:
docs/semantics.md#windows takes its function `xxhash64`, which begins with the seed 42.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

from tests.model.types import decimal_parts
from tests.model.values import normal

_MASK = 2**64 - 1
_P1, _P2, _P3, _P4, _P5 = (
    11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261,
)  # fmt: skip
_DIGITS_OF_A_LONG = 18


def xxhash64(values: Sequence[Any], types: Sequence[str]) -> int:
    """The hash of a key's values, as a signed number of 64 bits."""
    seed = 42
    for value, kind in zip(values, types, strict=True):
        if value is not None:
            seed = xxh64(as_bytes(normal(value), kind), seed)
    return seed - 2**64 if seed >= 2**63 else seed


def as_bytes(value: Any, kind: str) -> bytes:
    """The bytes of a value that are hashed: whole numbers up to int take four, bigint eight."""
    if kind == "string":
        return str(value).encode()
    if kind in ("boolean", "tinyint", "smallint", "int"):
        return struct.pack("<i", int(value))
    if kind == "bigint":
        return struct.pack("<q", value)
    if kind in ("float", "double"):
        return struct.pack("<f" if kind == "float" else "<d", value)
    parts = decimal_parts(kind)
    if parts is None:
        raise NotImplementedError(f"a key of type {kind}")
    return _of_decimal(value, *parts)


def _of_decimal(value: Decimal, precision: int, scale: int) -> bytes:
    """The digits without the point: as a bigint where they fit, else as the fewest bytes, the highest first."""
    with localcontext(prec=100):
        digits = int(value.scaleb(scale))
    if precision <= _DIGITS_OF_A_LONG:
        return struct.pack("<q", digits)
    bits = (digits if digits >= 0 else ~digits).bit_length()
    return digits.to_bytes(bits // 8 + 1, "big", signed=True)


def xxh64(data: bytes, seed: int) -> int:
    """XXH64 of some bytes, as a number of 64 bits without a sign."""
    accumulated = _of_stripes(data, seed) if len(data) >= 32 else seed + _P5
    accumulated = (accumulated + len(data)) & _MASK
    place = len(data) // 32 * 32
    while place + 8 <= len(data):
        accumulated ^= _round(0, int.from_bytes(data[place : place + 8], "little"))
        accumulated = (_rotated(accumulated, 27) * _P1 + _P4) & _MASK
        place += 8
    if place + 4 <= len(data):
        accumulated ^= int.from_bytes(data[place : place + 4], "little") * _P1 & _MASK
        accumulated = (_rotated(accumulated, 23) * _P2 + _P3) & _MASK
        place += 4
    for byte in data[place:]:
        accumulated ^= byte * _P5 & _MASK
        accumulated = _rotated(accumulated, 11) * _P1 & _MASK
    return _avalanche(accumulated)


def _of_stripes(data: bytes, seed: int) -> int:
    """Whole stripes of 32 bytes, in four lanes, which are merged."""
    lanes = [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed & _MASK, (seed - _P1) & _MASK]
    for place in range(0, len(data) // 32 * 32, 32):
        lanes = [_round(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, place), strict=True)]
    merged = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
    for lane in lanes:
        merged = ((merged ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return merged


def _round(lane: int, word: int) -> int:
    return _rotated((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> (64 - bits)) & _MASK


def _avalanche(number: int) -> int:
    number = (number ^ number >> 33) * _P2 & _MASK
    number = (number ^ number >> 29) * _P3 & _MASK
    return number ^ number >> 32
