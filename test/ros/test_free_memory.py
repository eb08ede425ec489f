"""Test that memory goes back to the system."""

from dynamics_node.ros.free_memory import GROWN, MemoryReturn, resident


def fragmented(size, count):
    """Return every other one of many blocks, too small to be mapped one by one."""
    blocks = [bytearray(size) for _ in range(count)]
    return blocks[::2]


def test_freed_memory_goes_back():
    """The allocator keeps blocks below one that is in use."""
    memory = MemoryReturn()
    before = resident()
    kept = fragmented(50_000, 4000)
    grown = resident() - before
    assert grown > 3 * GROWN   # half of 200 MB is in use
    pinned, kept = kept[-1], None
    memory.check()
    assert resident() - before < 0.2 * grown
    assert pinned is not None and kept is None


def test_memory_in_use_is_not_given_back_again_and_again():
    """Only after further growth."""
    memory = MemoryReturn()
    trims = []
    memory._trim = trims.append
    kept = [bytearray(b'x') * 50_000_000]
    memory.check()
    memory.check()
    assert len(trims) == 1
    kept.append(bytearray(b'x') * 50_000_000)
    memory.check()
    assert len(trims) == 2 and len(kept) == 2
