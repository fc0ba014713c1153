import os

import instructor
from pydantic import BaseModel


class Forecast(BaseModel):
    """The weather of a city"""

    city: str
    ducks: int


client = instructor.from_provider(f"openai/{os.environ['CLIENT_MODEL']}")
asked = [{"role": "user", "content": os.environ["CLIENT_PROMPT"]}]
forecast = client.create(response_model=Forecast, messages=asked, max_retries=0)
print(forecast.model_dump_json())
