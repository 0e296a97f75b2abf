"""Routes of `billing`: spend, run time, prices."""
