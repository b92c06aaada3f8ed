"""Regions around the data in which a tree for the data provably equals the model."""
