"""What a device's team has to do about an upgrade: duties, causes, counts, and edits of its manifests."""
