"""An audit: the questions that somebody who signs asks of a model, answered with proof, on one page.

Asks and shows; every answer comes from `onetree.questions`, every tree from `onetree.search`.
"""
