"""Numbers: arrays in, arrays out. No names, files, units or classes live here."""
