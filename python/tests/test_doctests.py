# SPDX-License-Identifier: MIT OR Apache-2.0
"""The examples in the documentation strings, native ones included."""

import doctest
import inspect
import types

import pytest

import spfe
from spfe import _aio, _record, _spfe, errors

MODULES = (spfe, errors, _record, _aio)


def examples():
    """Every documentation string that has examples, by name."""
    parser = doctest.DocTestParser()
    for module in MODULES:
        yield from ((module.__name__, test) for test in parsed(parser, module, module.__name__))
    for name, kind in inspect.getmembers(_spfe, inspect.isclass):
        yield from ((name, test) for test in parsed(parser, kind, name))
        for part, method in inspect.getmembers(kind):
            if isinstance(method, (types.MethodDescriptorType, types.GetSetDescriptorType)):
                name_of = f"{name}.{part}"
                yield from ((name_of, test) for test in parsed(parser, method, name_of))


def parsed(parser, thing, name):
    text = inspect.getdoc(thing) or ""
    if ">>>" in text:
        yield parser.get_doctest(text, {}, name, None, 0)


CASES = dict(examples())


@pytest.mark.parametrize("name", CASES)
def test_documentation(name):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(CASES[name])
    assert runner.failures == 0 and runner.tries > 0


def test_enough_of_the_interface_has_an_example():
    assert {"spfe", "Endpoint", "Buffer", "Tx", "Rx", "Broadcast", "Rmap", "Scenario"} <= set(CASES)


def test_every_public_name_is_documented():
    for name in spfe.__all__:
        assert name == "__version__" or inspect.getdoc(getattr(spfe, name)), name
