"""Which joints live, and why: assembly trees, metrics, hybrid bodies."""
