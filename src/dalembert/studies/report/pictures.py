"""Pictures of many cells, as images inside a page."""

import base64
import struct
import zlib

import numpy as np

from dalembert.algebra.spatial import Array

# the colours of a map, from its lowest value to its highest: dark to light, also for those who do not see all colours
RAMP = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], dtype=float)
SHADE = (11, 108, 184)  # of a density: on light and on dark paper


def coloured(values: Array, most: float) -> Array:
    """Values (rows, columns) from 0 to `most` in the colours of a map, (rows, columns, 4); what is NaN cannot be seen.

    >>> coloured(np.array([[0.0, np.nan, 9.0]]), 3.0)[0].tolist()
    [[68, 1, 84, 255], [0, 0, 0, 0], [253, 231, 37, 255]]
    """
    share = np.clip(np.nan_to_num(values, nan=0.0, posinf=most) / most, 0.0, 1.0) * (len(RAMP) - 1)
    k = np.minimum(share.astype(int), len(RAMP) - 2)
    rgb = RAMP[k] + (share - k)[..., None] * (RAMP[k + 1] - RAMP[k])
    seen = ~np.isnan(values)[..., None]
    return (np.concatenate([rgb, np.full((*values.shape, 1), 255.0)], axis=-1) * seen).round().astype(np.uint8)


def shaded(counts: Array) -> Array:
    """Counts (rows, columns) as shades, (rows, columns, 4): the more, the less one sees through them, by their logarithm."""
    logs = np.log1p(counts)
    opaque = np.where(counts > 0, 15 + 150 * logs / max(float(logs.max()), 1e-300), 0.0)
    return np.concatenate([np.broadcast_to(SHADE, (*counts.shape, 3)), opaque[..., None]], axis=-1).round().astype(np.uint8)


def image(rgba: Array) -> str:
    """The address of a picture (rows, columns, 4) with its first row below, as a page has it inside: PNG in base64."""
    rows, columns = rgba.shape[:2]
    lines = np.concatenate([np.zeros((rows, 1), dtype=np.uint8), rgba[::-1].reshape(rows, -1)], axis=1)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    chunks = (struct.pack(">I", len(x)) + kind + x + struct.pack(">I", zlib.crc32(kind + x)) for kind, x in parts)
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()
