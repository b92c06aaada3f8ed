"""Models of models: votes, bags, calibrated, thresholded and stacked models, and thresholds for any binary one.

`parts` joins the trees of all members into one ensemble, `responses` says what each family of models makes of its sums,
`composites` what stands around them, `reduced` finds where one level is enough.
"""
