"""Advice: findings over an analysis, each with the saving that the next roof leaves."""
