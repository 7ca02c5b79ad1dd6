"""What a greedy strategy maximises, a file each: functions of the mean and variance of a difference of scores.

GURO and NormMin are `CurvaturePower`, which search has a compiled scan for.
"""
