"""Which inputs can occur: ranges, values and groups of features, stated or inferred, and ensembles restricted to them."""
