"""The REST API: what every route shares (who calls, errors, pages of lists), and the routes of `people`."""
