"""200 people watching the page at once, beside calls of the API: Roost against a bare server."""
