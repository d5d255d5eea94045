"""Nouns: what a model is, and how a description becomes one."""
