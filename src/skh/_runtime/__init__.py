"""What runs beside the mathematics: threads, memory, the notice at compilation, progress bars."""
