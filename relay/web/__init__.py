"""The HTTP surface: webhook, worker, read and operator APIs, and the pages."""
