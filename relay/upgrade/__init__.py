"""Reports about an upgrade of upstream: as JSON that is kept and sent, and as what people read."""
