"""What `import roofline` gives: the commands as functions, with typed results."""
