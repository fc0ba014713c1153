import os

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

name = os.environ["CLIENT_MODEL"]
client_format = os.environ["CLIENT_FORMAT"]


@tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    return f"It rains 7 ducks an hour in {city}."


if client_format == "messages":
    model = ChatAnthropic(model=name, streaming=True)
else:
    model = ChatOpenAI(model=name, streaming=True, use_responses_api=client_format == "responses")
state = create_agent(model, [get_weather]).invoke({"messages": [("user", os.environ["CLIENT_PROMPT"])]})
print(state["messages"][-1].text)
