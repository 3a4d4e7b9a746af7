"""What screening looks for, as data and pure functions; ``services.screening`` applies it."""
