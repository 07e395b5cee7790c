"""What all rooms use: errors, arrays, types, files that may be opened, the terminal; it knows no room."""
