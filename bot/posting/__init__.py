"""From a saved reply to a platform that may be slow, busy or gone: what every chat platform needs of delivery."""
