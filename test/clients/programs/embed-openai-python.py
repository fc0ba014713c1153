import json
import os

from openai import OpenAI

client = OpenAI()
model = os.environ["CLIENT_MODEL"]
texts = ["the red tree", "the red tree", "a blue river"]
# The SDK asks for base64 and decodes it.
answer = client.embeddings.create(model=model, input=texts)
first, same, other = (item.embedding for item in answer.data)
print(json.dumps({"dimensions": len(first), "same": first == same, "other": first == other}))
