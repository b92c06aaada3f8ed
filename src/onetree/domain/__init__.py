"""Which inputs can occur: ranges, values and groups of features, stated or inferred; ensembles restricted to them."""
