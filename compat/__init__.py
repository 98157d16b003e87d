"""What lets programs of other compilers run on Tilework."""
