import json
import os

import litellm

model = os.environ["CLIENT_MODEL"]
prompt = os.environ["CLIENT_PROMPT"]
client_format = os.environ["CLIENT_FORMAT"]
described = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def get_weather(arguments):
    return f"It rains 7 ducks an hour in {json.loads(arguments)['city']}."


def ask_responses():
    given = [{"role": "user", "content": prompt}]
    tools = [{"type": "function", "strict": False, **described}]
    while True:
        answer = litellm.responses(model=f"openai/{model}", input=given, tools=tools, store=False)
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return "".join(part.text for item in answer.output if item.type == "message" for part in item.content)
        given += [item.model_dump(exclude_none=True) for item in answer.output]
        for call in calls:
            result = get_weather(call.arguments)
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


def ask_completion():
    """Its one interface of the chat format, on a provider of either format."""
    provider = "anthropic" if client_format == "messages" else "openai"
    messages = [{"role": "user", "content": prompt}]
    tools = [{"type": "function", "function": described}]
    while True:
        asked = {"model": f"{provider}/{model}", "messages": messages, "tools": tools, "stream": True}
        chunks = list(litellm.completion(**asked))
        message = litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = get_weather(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


print(ask_responses() if client_format == "responses" else ask_completion())
