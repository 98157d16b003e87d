"""`tilework report`: what `tilework bench` saved as one HTML page that needs nothing else."""
