"""The one source of random bits that may touch a release.

AES-256 in counter mode, keyed by the operating system. A forked child would otherwise inherit the
key and draw the same noise as its parent, which cancels when the two releases are subtracted; so
the key belongs to one process: every source forgets it in a forked child, and a process id that is
not the one it was drawn under counts as a fork that Python did not see.
"""

import hashlib
import os
import threading
from typing import Protocol
from weakref import WeakSet

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from hushway.arrays import WordArray

_KEY_BYTES = 32
_COUNTER_BYTES = 16
# A fresh key every 64 MiB costs nothing measurable and limits what a cloned virtual machine could
# repeat.
_BYTES_PER_KEY = 1 << 26


class BitSource(Protocol):
    """A stream of independent fair bits."""

    @property
    def name(self) -> str:
        """What the certificate calls the source."""

    @property
    def private(self) -> bool:
        """Whether nobody can replay the bits."""

    def words(self, count: int) -> WordArray:
        """Returns fresh 64-bit words."""


class OsSource:
    """Bits that nobody can replay: AES-CTR, keyed by the operating system, rekeyed after a fork.

    Privacy:
        The only source whose releases are private.
    """

    name = "AES-256-CTR keyed by the operating system"
    private = True

    def __init__(self) -> None:
        self.forget()
        _ALIVE.add(self)

    def forget(self) -> None:
        """Throws away the key, and the lock, which another thread may have held during a fork."""
        self._lock = threading.Lock()
        self._owner = -1
        self._left = 0
        self._stream: CipherContext | None = None

    def words(self, count: int) -> WordArray:
        """Returns fresh 64-bit words."""
        buffer = np.zeros(count, dtype=np.uint64)
        view = memoryview(buffer.data).cast("B") if count else memoryview(b"")
        with self._lock:
            start = 0
            while start < len(view):
                stream = self._fresh_stream()
                size = min(len(view) - start, self._left)
                piece = view[start : start + size]
                stream.update_into(piece, piece)
                self._left -= size
                start += size
        return buffer

    def _fresh_stream(self) -> CipherContext:
        if self._stream is None or self._left == 0 or self._owner != os.getpid():
            self._stream = _keystream(os.urandom(_KEY_BYTES), os.urandom(_COUNTER_BYTES))
            self._left = _BYTES_PER_KEY
            self._owner = os.getpid()
        return self._stream


class SeededSource:
    """Bits that anyone with the seed can replay, for tests and reproductions.

    Privacy:
        None. Everything made with it is stamped NOT PRIVATE.
    """

    name = "AES-256-CTR keyed by a seed (NOT PRIVATE)"
    private = False

    def __init__(self, seed: int) -> None:
        key = hashlib.sha256(f"hushway test source {seed}".encode()).digest()
        self._stream = _keystream(key, bytes(_COUNTER_BYTES))

    def words(self, count: int) -> WordArray:
        """Returns the next 64-bit words of the seed's stream."""
        return np.frombuffer(self._stream.update(bytes(8 * count)), dtype=np.uint64)


def _keystream(key: bytes, counter: bytes) -> CipherContext:
    return Cipher(AES(key), CTR(counter)).encryptor()


# A curator holds its source for as long as it lives, so not only the module's own one must forget.
_ALIVE: "WeakSet[OsSource]" = WeakSet()
_OS_SOURCE = OsSource()


def os_source() -> OsSource:
    """Returns the process's one private source."""
    return _OS_SOURCE


def _forget_all() -> None:
    for source in _ALIVE:
        source.forget()


os.register_at_fork(after_in_child=_forget_all)
