import os

from anthropic import Anthropic

client = Anthropic()
messages = [{"role": "user", "content": os.environ["CLIENT_PROMPT"]}]
tools = [
    {
        "name": "get_weather",
        "description": "The weather of a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
while True:
    asked = {"model": os.environ["CLIENT_MODEL"], "max_tokens": 4096, "messages": messages, "tools": tools}
    with client.messages.stream(**asked) as stream:
        answer = stream.get_final_message()
    messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]})
    calls = [block for block in answer.content if block.type == "tool_use"]
    if not calls:
        print("".join(block.text for block in answer.content if block.type == "text"))
        break
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": f"It rains 7 ducks an hour in {call.input['city']}."}
        for call in calls
    ]
    messages.append({"role": "user", "content": results})
