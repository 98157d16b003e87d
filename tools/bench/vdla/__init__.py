"""What the simulator of VDLA says of networks and layers."""
