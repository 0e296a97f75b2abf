"""The words of the states, as pages, files and pictures show them."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

STATE_WORDS = {
    "working": pgettext_lazy("state", "Working"),
    "low": pgettext_lazy("state", "Low"),
    "held": pgettext_lazy("state", "Held"),
    "empty": pgettext_lazy("state", "Empty"),
    "unknown": pgettext_lazy("state", "Unknown"),
    "stopped": pgettext_lazy("state", "Stopped"),
    "beside": pgettext_lazy("state", "Storage, network, other"),
    "warm_up": pgettext_lazy("state", "Warm-up"),
}
