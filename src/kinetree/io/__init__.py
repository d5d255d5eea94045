"""Files to models and motions, and back. `load` and `save` are the doors; each format has a file of its own."""
