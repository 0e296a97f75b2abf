"""Reads of `alerts`: the documents of the doors, the outbox, the health of channels."""

from alerts.queries.channels import ChannelCheck, channel_checks
from alerts.queries.documents import alerts_document, deliveries_document
from alerts.queries.outbox import next_due

__all__ = ["ChannelCheck", "alerts_document", "channel_checks", "deliveries_document", "next_due"]
