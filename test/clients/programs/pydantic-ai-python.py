import os

from pydantic_ai import Agent

providers = {"chat": "openai-chat", "responses": "openai-responses", "messages": "anthropic"}
agent = Agent(f"{providers[os.environ['CLIENT_FORMAT']]}:{os.environ['CLIENT_MODEL']}")


@agent.tool_plain
def get_weather(city: str) -> str:
    """The weather of a city"""
    return f"It rains 7 ducks an hour in {city}."


print(agent.run_sync(os.environ["CLIENT_PROMPT"]).output)
