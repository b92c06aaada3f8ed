"""One module per command. What several commands share stands beside this folder."""
