"""Machine code made ahead: whole runs on made-up rows, in processes of their own."""
