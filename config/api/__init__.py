"""The REST API as a whole: its addresses, its OpenAPI document, the page that shows it."""
