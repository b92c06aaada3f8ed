"""YDF (Yggdrasil Decision Forests): models in memory, and folders if the library is installed."""
