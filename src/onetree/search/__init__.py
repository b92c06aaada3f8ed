"""The search for one small tree that is equal everywhere: requests, engines, estimates, and what was proven."""
