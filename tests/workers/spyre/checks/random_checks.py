"""Random numbers of the device: reproducible, independent of the host, with generators that can be handed around."""

from __future__ import annotations

import pytest
import torch


def _draw(**arguments: object) -> list[float]:
    numbers: list[float] = torch.randn(8, device="spyre", **arguments).tolist()
    return numbers


def test_a_seed_gives_the_same_numbers() -> None:
    """`torch.manual_seed` reaches the device; other draws differ."""
    torch.manual_seed(7)
    first, next_one = _draw(), _draw()
    torch.manual_seed(7)
    assert _draw() == first
    assert next_one != first


def test_host_and_device_do_not_disturb_each_other() -> None:
    """Drawing on one side leaves the state of the other alone, also for kernels without a generator argument."""
    torch.manual_seed(7)
    host = torch.get_rng_state()
    device = torch.spyre.get_rng_state()
    torch.nn.functional.dropout(torch.ones(100, device="spyre"))
    _draw()
    assert torch.get_rng_state().equal(host)
    assert not torch.spyre.get_rng_state().equal(device)
    device = torch.spyre.get_rng_state()
    torch.randn(8)
    assert torch.spyre.get_rng_state().equal(device)


def test_dropout_follows_the_seed() -> None:
    """Its kernel draws from the host's default generator, which must continue the device's sequence meanwhile."""
    torch.manual_seed(7)
    first = torch.nn.functional.dropout(torch.ones(100, device="spyre"))
    second = torch.nn.functional.dropout(torch.ones(100, device="spyre"))
    torch.manual_seed(7)
    assert torch.nn.functional.dropout(torch.ones(100, device="spyre")).equal(first)
    assert not second.equal(first)


def test_states_come_back() -> None:
    """get_rng_state and set_rng_state rewind; each device has its own."""
    state = torch.spyre.get_rng_state()
    first = _draw()
    torch.randn(3, device="spyre:1")
    torch.spyre.set_rng_state(state)
    assert _draw() == first


def test_fork_rng_leaves_no_trace() -> None:
    """What happens inside does not advance the sequence outside."""
    torch.manual_seed(7)
    expected = _draw()
    torch.manual_seed(7)
    with torch.random.fork_rng(devices=[0], device_type="spyre"):
        _draw()
    assert _draw() == expected


def test_generators_are_independent_and_cloneable() -> None:
    """Own seed, own state, and a clone that continues from the same point."""
    generator = torch.Generator("spyre").manual_seed(3)
    assert generator.device == torch.device("spyre:0")
    assert generator.initial_seed() == 3
    state = generator.get_state()
    first = _draw(generator=generator)
    twin = generator.clone_state()
    assert twin.device == generator.device
    assert _draw(generator=twin) == _draw(generator=generator)
    generator.set_state(state)
    assert _draw(generator=generator) == first


def test_the_default_generator_is_the_one_that_is_used() -> None:
    """Seeding it through `default_generators` shows in the next draw."""
    torch.spyre.default_generators[0].manual_seed(11)
    first = _draw()
    torch.spyre.manual_seed(11)
    assert _draw() == first


def test_generators_of_another_device_are_refused() -> None:
    """A host generator cannot draw on the device."""
    with pytest.raises(RuntimeError, match="Expected a 'spyre' device type for generator but found 'cpu'"):
        _draw(generator=torch.Generator())


def test_a_generator_has_no_offset() -> None:
    """Refused by name, as there is nothing to jump to."""
    with pytest.raises(RuntimeError, match=r"^spyre: unsupported: generator-offset: "):
        torch.Generator("spyre").get_offset()
