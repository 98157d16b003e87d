"""Plugins: packages from outside of the tree that bring passes, operators, rules, back ends and targets."""
