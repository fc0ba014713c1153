import json
import os

from openai import OpenAI

client = OpenAI()
model = os.environ["CLIENT_MODEL"]
prompt = os.environ["CLIENT_PROMPT"]
described = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def get_weather(arguments):
    return f"It rains 7 ducks an hour in {json.loads(arguments)['city']}."


def ask_chat():
    """With the SDK's accumulator of chunks."""
    messages = [{"role": "user", "content": prompt}]
    tools = [{"type": "function", "function": described}]
    while True:
        with client.chat.completions.stream(model=model, messages=messages, tools=tools) as stream:
            message = stream.get_final_completion().choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
        for call in message.tool_calls:
            result = get_weather(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def ask_responses():
    """With the SDK's accumulator of events; the history is sent again with each request."""
    given = [{"role": "user", "content": prompt}]
    tools = [{"type": "function", "strict": False, **described}]
    while True:
        with client.responses.stream(model=model, input=given, tools=tools, store=False) as stream:
            answer = stream.get_final_response()
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        given += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        for call in calls:
            result = get_weather(call.arguments)
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


print(ask_responses() if os.environ["CLIENT_FORMAT"] == "responses" else ask_chat())
