"""The tables of `alerts`: one file per concept."""

from alerts.models.alert import Alert
from alerts.models.channel import Channel, Route
from alerts.models.delivery import Attempt, Delivery, Message

__all__ = ["Alert", "Attempt", "Channel", "Delivery", "Message", "Route"]
