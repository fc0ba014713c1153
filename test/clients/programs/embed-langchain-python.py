import json
import os

from langchain_openai import OpenAIEmbeddings

# Its own count of tokens is for OpenAI's models only.
embeddings = OpenAIEmbeddings(model=os.environ["CLIENT_MODEL"], check_embedding_ctx_length=False)
first, same, other = embeddings.embed_documents(["the red tree", "the red tree", "a blue river"])
print(json.dumps({"dimensions": len(first), "same": first == same, "other": first == other}))
