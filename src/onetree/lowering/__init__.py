"""From an ensemble and a domain to what the native core works on: axes of slabs or sets, and the grid of cells."""
