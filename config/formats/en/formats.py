"""Dates in English: the day first, hours to 24."""

from __future__ import annotations

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y H:i"
YEAR_MONTH_FORMAT = "F Y"
MONTH_DAY_FORMAT = "j M"
# The two ends of a range of days that lie in the same month, the same year, or in two years (common.words.days_text).
FIRST_OF_SAME_MONTH_FORMAT = "j"
LAST_OF_SAME_MONTH_FORMAT = "j M Y"
FIRST_OF_SAME_YEAR_FORMAT = "j M"
LAST_OF_SAME_YEAR_FORMAT = "j M Y"
FIRST_OF_SAME_NOTHING_FORMAT = "j M Y"
LAST_OF_SAME_NOTHING_FORMAT = "j M Y"
# What pictures write with: patterns of strftime; the last one is read by plotly, whose patterns are the same.
PLOT_DAY_FORMAT = "%d %b"
PLOT_MOMENT_FORMAT = "%d %b %H:%M"
PLOT_HOVER_DAY_FORMAT = "%-d %b %Y"
# Months below bars: where there are many of them, and else.
SHORT_MONTH_FORMAT = "M y"
PICTURE_MONTH_FORMAT = "M Y"
# A moment in a cell of a table, where the year goes without saying.
SHORT_MOMENT_FORMAT = "j M H:i"
