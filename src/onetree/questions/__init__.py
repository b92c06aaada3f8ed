"""Questions to a model that are answered with proof: what would have to change, why, and what never matters.

Every answer is an input that the model itself confirms, or a proof that there is none; at a limit, what is known so
far. The searches are native (``cpp/question``).
"""
