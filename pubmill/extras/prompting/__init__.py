"""Prompted language models: their answers to the test examples, by a server that speaks OpenAI's protocol."""
