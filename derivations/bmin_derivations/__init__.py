"""Every claim about B_min as a theorem that a machine checks step by step."""
