"""What became of each test between two trees: added, moved, changed, and by what."""
