"""More than one search: many models, one model in parts, and files to go on from."""
