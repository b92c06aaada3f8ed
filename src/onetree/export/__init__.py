"""The tree in other people's formats, one file per format; the methods of `Tree` lead here."""
