"""Dates in Simplified Chinese: from the year down to the minute."""

from __future__ import annotations

DATE_FORMAT = "Y年n月j日"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y年n月j日 H:i"
YEAR_MONTH_FORMAT = "Y年n月"
MONTH_DAY_FORMAT = "n月j日"
# The two ends of a range of days that lie in the same month, the same year, or in two years (common.words.days_text).
FIRST_OF_SAME_MONTH_FORMAT = "Y年n月j日"
LAST_OF_SAME_MONTH_FORMAT = "j日"
FIRST_OF_SAME_YEAR_FORMAT = "Y年n月j日"
LAST_OF_SAME_YEAR_FORMAT = "n月j日"
FIRST_OF_SAME_NOTHING_FORMAT = "Y年n月j日"
LAST_OF_SAME_NOTHING_FORMAT = "Y年n月j日"
# What pictures write with: patterns of strftime; the last one is read by plotly, whose patterns are the same.
PLOT_DAY_FORMAT = "%-m月%-d日"
PLOT_MOMENT_FORMAT = "%-m月%-d日 %H:%M"
PLOT_HOVER_DAY_FORMAT = "%Y年%-m月%-d日"
# Months below bars: where there are many of them, and else.
SHORT_MONTH_FORMAT = "y年n月"
PICTURE_MONTH_FORMAT = "Y年n月"
# A moment in a cell of a table, where the year goes without saying.
SHORT_MOMENT_FORMAT = "n月j日 H:i"
