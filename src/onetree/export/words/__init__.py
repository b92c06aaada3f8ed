"""Conditions as people read them: numbers with few digits that keep them true, sets by their names."""
