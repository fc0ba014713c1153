import json
import os

import cohere

address = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
client = cohere.ClientV2(api_key=os.environ["OPENAI_API_KEY"], base_url=address)
documents = ["a river", "the red tree", "a stone"]
answer = client.rerank(model=os.environ["CLIENT_MODEL"], query="red tree", documents=documents, top_n=2)
scores = [result.relevance_score for result in answer.results]
print(json.dumps({"results": len(scores), "sorted": scores == sorted(scores, reverse=True), "best": answer.results[0].index}))
