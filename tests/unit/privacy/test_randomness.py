"""The bit sources. Forks run in a process of their own: pytest's may have threads."""

import hashlib
import json
import multiprocessing
import os
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from hushway.privacy import randomness
from hushway.privacy.randomness import BitSource, OsSource, SeededSource, os_source
from support.scripts import output_of


@pytest.fixture(autouse=True)
def keys_of_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks for true keys here, where they are what is tested."""
    monkeypatch.setattr(randomness, "os", os)
    randomness._forget_all()


def test_only_the_source_of_the_operating_system_is_private() -> None:
    assert OsSource().private
    assert os_source().private
    assert not SeededSource(1).private


def test_a_seeded_source_says_in_its_name_that_it_is_not_private() -> None:
    assert "NOT PRIVATE" in SeededSource(1).name
    assert "NOT PRIVATE" not in os_source().name


@pytest.mark.parametrize("source", [OsSource(), SeededSource(3)], ids=["os", "seeded"])
@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_a_source_gives_as_many_words_as_it_is_asked_for(source: BitSource, count: int) -> None:
    words = source.words(count)
    assert words.dtype == np.uint64
    assert words.shape == (count,)


def test_the_same_seed_gives_the_same_words_however_they_are_asked_for() -> None:
    whole = SeededSource(5).words(100)
    parts = SeededSource(5)
    pieces = [parts.words(n) for n in (1, 0, 2, 30, 67)]
    assert np.concatenate(pieces).tolist() == whole.tolist()


def test_different_seeds_give_different_words() -> None:
    firsts = {int(SeededSource(seed).words(1)[0]) for seed in range(1000)}
    assert len(firsts) == 1000


def test_the_words_of_a_seed_are_aes_of_a_counter_and_never_change() -> None:
    key = hashlib.sha256(b"hushway test source 0").digest()
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305  one block is CTR too
    blocks = [block.update(i.to_bytes(16, "big")) for i in range(3)]
    words = SeededSource(0).words(6)
    assert words.tolist() == np.frombuffer(b"".join(blocks), dtype="<u8").tolist()
    assert int(words[0]) == 17966601028410148518


def test_the_process_has_one_private_source() -> None:
    assert os_source() is os_source()


def test_two_private_sources_give_different_words() -> None:
    ours, theirs = OsSource().words(1000), OsSource().words(1000)
    assert not set(ours.tolist()) & set(theirs.tolist())


def test_a_private_source_changes_its_key_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []
    real = randomness._keystream

    def spy(key: bytes, counter: bytes) -> object:
        keys.append(key)
        return real(key, counter)

    monkeypatch.setattr(randomness, "_keystream", spy)
    monkeypatch.setattr(randomness, "_BYTES_PER_KEY", 64)
    words = OsSource().words(81)
    assert len(set(words.tolist())) == 81
    assert len(set(keys)) == len(keys) == 11


def test_every_bit_of_a_private_word_is_fair() -> None:
    words = os_source().words(200_000)
    for bit in range(64):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        # Six standard deviations: any of the 64 fails once in seven million runs.
        assert abs(ones - 100_000) < 6 * np.sqrt(50_000)


def test_threads_share_a_source_without_repeats() -> None:
    source = OsSource()
    found: list[NDArray[np.uint64]] = []
    start = threading.Barrier(8)

    def draw() -> None:
        start.wait()
        found.extend(source.words(500) for _ in range(50))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(found)
    assert len(np.unique(words)) == len(words) == 8 * 50 * 500


def test_a_million_words_of_eight_forked_children_and_their_parent_hold_no_repeat() -> None:
    out = output_of(
        """
        import os
        import numpy as np
        from hushway.privacy.randomness import OsSource, os_source

        class Holder:
            def __init__(self):
                self.source = OsSource()

        EACH = 60_000
        holder, module = Holder(), os_source()
        holder.source.words(10), module.words(10)  # keyed before the forks

        def draw():
            return np.concatenate([holder.source.words(EACH), module.words(EACH // 2),
                                   os_source().words(EACH // 2)])

        pipes = []
        for _ in range(8):
            read, write = os.pipe()
            if os.fork() == 0:
                os.close(read)
                with os.fdopen(write, "wb") as out:
                    out.write(draw().tobytes())
                os._exit(0)
            os.close(write)
            pipes.append(read)
        words = [draw()]
        for read in pipes:
            with os.fdopen(read, "rb") as pipe:
                words.append(np.frombuffer(pipe.read(), dtype=np.uint64))
        every = np.concatenate(words)
        print(len(every), len(np.unique(every)))
        """
    )
    assert out.split() == ["1080000", "1080000"]


def test_pool_workers_that_were_forked_draw_different_words() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot fork")
    out = output_of(
        """
        import json
        import multiprocessing
        from hushway.privacy.randomness import OsSource, os_source

        SOURCE = OsSource()
        SOURCE.words(1), os_source().words(1)

        def draw(_):
            return SOURCE.words(3).tolist() + os_source().words(3).tolist()

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(4) as pool:
                drawn = pool.map(draw, range(8), chunksize=2)
            print(json.dumps(drawn + [draw(0)]))
        """
    )
    words = [word for drawn in json.loads(out) for word in drawn]
    assert len(set(words)) == len(words) == 54


def test_a_child_forked_while_a_thread_draws_is_not_locked_out() -> None:
    out = output_of(
        """
        import os
        from hushway.privacy.randomness import OsSource, os_source

        held, module = OsSource(), os_source()
        for source in (held, module):
            source._lock.acquire()  # as another thread would at the moment of the fork
        child = os.fork()
        if child == 0:
            held.words(5), module.words(5), os_source().words(5)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert out.split() == ["0"]


def test_a_grandchild_that_gets_an_ancestors_process_id_back_draws_different_words() -> None:
    out = output_of(
        """
        import os
        from unittest import mock
        from hushway.privacy.randomness import OsSource

        source = OsSource()
        source.words(1)
        ancestor = os.getpid()
        read, write = os.pipe()
        if os.fork() == 0:
            with mock.patch("os.getpid", return_value=ancestor):
                os.write(write, source.words(4).tobytes())
            os._exit(0)
        ours = source.words(4).tobytes()
        os.wait()
        print(ours == os.read(read, 100))
        """
    )
    assert out.split() == ["False"]


def test_a_fork_that_python_does_not_see_is_told_by_the_process_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A C library may fork without running Python's hooks; the process id still changes."""
    source = OsSource()
    source.words(1)
    stream = source._stream
    source.words(1)
    assert source._stream is stream
    monkeypatch.setattr("os.getpid", lambda: -2)
    source.words(1)
    assert source._stream is not stream
