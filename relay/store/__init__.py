"""The record: tables, engine and migrations. Knows nothing of HTTP, the queue or what a verdict means."""
