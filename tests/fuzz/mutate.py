"""Mistakes in files: bytes and numbers changed, parts cut off, doubled, swapped or left out."""

import random
import re

NUMBERS = (
    b"nan",
    b"inf",
    b"-inf",
    b"1e999",
    b"-1e308",
    b"5e-324",
    b"0",
    b"-0.0",
    b"1e400",
    b"9" * 400,
    b"",
    b"1,5",
    b"0x10",
    b"1_0",
    b"true",
)
BYTES = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n\n",
    b'"',
    b"<",
    b">",
    b"&",
    b"]",
    b"[[",
    b"=",
    b",",
    b"-",
    b"\xc3\x28",
    b"\xed\xa0\x80",
)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with one to four mistakes."""
    for _ in range(rng.randint(1, 4)):
        content = rng.choice(MISTAKES)(content, rng)
    return content


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _insert(content: bytes, rng: random.Random) -> bytes:
    k = rng.randrange(len(content) + 1)
    return content[:k] + rng.choice(BYTES) * rng.choice((1, 1, 1, 1000)) + content[k:]


def _number(content: bytes, rng: random.Random) -> bytes:
    places = [m.span() for m in re.finditer(rb"-?\d+(\.\d+)?([eE]-?\d+)?", content)]
    if not places:
        return content
    a, b = rng.choice(places)
    return content[:a] + rng.choice(NUMBERS) + content[b:]


def _lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content * 2
    a, b = sorted(rng.sample(range(len(lines) + 1), 2))
    if rng.random() < 0.3:
        return b"".join(lines[:a] + lines[b:])
    if rng.random() < 0.5:
        return b"".join(lines[:b] + lines[a:])
    rng.shuffle(lines)
    return b"".join(lines)


def _swap(content: bytes, rng: random.Random) -> bytes:
    words = re.findall(rb"[A-Za-z_]\w+", content)
    if not words:
        return content
    a, b = rng.choice(words), rng.choice(words)
    return content.replace(a, b, rng.choice((1, -1)))


MISTAKES = (_flip, _cut, _insert, _number, _number, _lines, _swap)
