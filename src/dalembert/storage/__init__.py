"""Opening and saving files, and what a file may hold at most. May import: nothing."""
