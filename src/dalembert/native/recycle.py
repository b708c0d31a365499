"""Large results in memory that earlier ones have left.

The system gives memory in pages and clears each one when it is first touched, which for a batch of small matrices takes
three to four times as long as computing them; and the C library returns memory of that size to the system as soon as it
is free. So a few large buffers are kept, and a result is a view of one that nothing else refers to: NumPy lets every view, and what
other libraries make of one, refer to the array that owns the memory, whose count of references therefore tells. The process's
allocator is left as it is.
"""

import sys
import threading
from math import prod
from typing import Any

import numpy as np

from dalembert.arguments import whole

LEAST = 1 << 17  # bytes of a result: below, the C library reuses memory by itself
_limit = 128 << 20  # bytes of all buffers
_buffers: list[Any] = []  # those used last at the end
_lock = threading.Lock()


def set_recycling(limit: int) -> None:
    """Keep at most so many bytes of memory for large results, 128 MiB at first; 0 keeps none.

    >>> import dalembert as da
    >>> da.set_recycling(0)
    >>> da.set_recycling(128 << 20)
    """
    global _limit
    _limit = whole(limit, "the limit in bytes", 0)
    with _lock:
        _make_room(0)


def empty(shape: tuple[int, ...], dtype: Any = float) -> Any:
    """An array with any content; a large one in memory that was used before, if there is some."""
    size = np.dtype(dtype).itemsize * prod(shape)
    if not LEAST <= size <= _limit or not _lock.acquire(blocking=False):  # it never waits: a forked child may find the lock taken
        return np.empty(shape, dtype)
    try:
        for k in range(len(_buffers)):
            if size <= _buffers[k].size <= 2 * size and _references(_buffers, k) == _IDLE:
                _buffers.append(_buffers.pop(k))
                break
        else:
            _make_room(size)
            _buffers.append(np.empty(size, np.uint8))
        return _buffers[-1][:size].view(dtype).reshape(shape)
    finally:
        _lock.release()


def _make_room(size: int) -> None:
    """Forget buffers, those used longest ago first; results that lie in them keep them until they die."""
    while _buffers and sum(b.size for b in _buffers) + size > _limit:
        del _buffers[0]


def _references(buffers: list[Any], k: int) -> int:
    return sys.getrefcount(buffers[k])


_IDLE = _references([np.empty(1)], 0)
