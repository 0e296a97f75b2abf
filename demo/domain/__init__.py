"""The story: which machines there are, what they do when, and what goes wrong. No Django, no clock."""
