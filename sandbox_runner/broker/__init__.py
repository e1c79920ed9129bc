"""Jobs over NATS JetStream: the bot's end, the runner's end, and what lies at the broker between them."""
