"""What runs inside the sandbox: self-contained, bound read-only, imports nothing of ours outside this folder."""
