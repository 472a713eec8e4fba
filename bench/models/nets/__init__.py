"""Networks: each function takes a name, a seed and sizes, and gives a builder."""
