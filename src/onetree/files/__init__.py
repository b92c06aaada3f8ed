"""Reading and writing files: whole or not at all, and JSON without surprises. What the files mean is said elsewhere."""
