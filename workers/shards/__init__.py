"""What is done with a leased shard: selecting and planning, or running tests, comparing with base and reporting."""
