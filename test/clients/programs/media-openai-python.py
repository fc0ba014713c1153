import base64
import json
import os

from openai import OpenAI

client = OpenAI()
model = os.environ["CLIENT_MODEL"]
picture = base64.b64decode(client.images.generate(model=model, prompt="a tree").data[0].b64_json)
changed = client.images.edit(model=model, prompt="a hat", image=("a.png", picture, "image/png"), n=2)
with client.audio.speech.with_streaming_response.create(model=model, voice="alloy", input="one two three") as answer:
    sound = answer.read()
file = ("a.wav", sound, "audio/wav")
text = client.audio.transcriptions.create(model=model, file=file).text
english = client.audio.translations.create(model=model, file=file).text
subtitles = client.audio.transcriptions.create(model=model, file=file, response_format="srt")
print(
    json.dumps(
        {
            "picture": picture[1:4].decode(),
            "changed": len(changed.data),
            "sound": sound[:4].decode(),
            "whole": f"{len(sound)} bytes" in text,
            "same": text == english,
            "subtitles": "-->" in subtitles,
        }
    )
)
