"""What is seen in a browser and asked over HTTP: the explorer of privacy regions, its page and its server."""
