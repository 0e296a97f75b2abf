"""Pages of `fleet`: the map, the machines, the jobs."""
