"""kinetree's models in other engines, with states and results translated: to compare answers and speed."""
