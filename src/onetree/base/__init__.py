"""What every stage may use: limits, progress, and how amounts are written. No models and no trees here."""
