"""Fixtures of the tests of money."""

from tests.support.money_world import world

__all__ = ["world"]
