import os
import time

from openai import BadRequestError, NotFoundError, OpenAI

client = OpenAI()
model = os.environ["CLIENT_MODEL"]
story = "Tell a story.\n[demo rate={rate} tokens={tokens}]"


def begin(rate=200, tokens=40, **more):
    return client.responses.create(model=model, input=story.format(rate=rate, tokens=tokens), background=True, **more)


def until_over(response):
    while response.status in ("queued", "in_progress"):
        time.sleep(0.1)
        response = client.responses.retrieve(response.id)
    return response


def refused(ask, kind):
    try:
        ask()
    except kind as error:
        return error
    raise SystemExit("it was not refused")


asked = begin(metadata={"night": "1"})
assert asked.status == "queued" and asked.background and asked.output == [], asked
done = until_over(asked)
assert done.id == asked.id and done.status == "completed" and done.metadata == {"night": "1"}, done
assert done.output_text and done.usage.output_tokens > 0, done
again = client.responses.create(model=model, input="Go on.", previous_response_id=done.id)
assert again.status == "completed", again

first = []
with begin(rate=60, tokens=60, stream=True) as stream:
    for event in stream:
        first.append(event)
        if len(first) == 12:
            break
assert [event.type for event in first[:3]] == ["response.created", "response.queued", "response.in_progress"], first
id = first[0].response.id
last = first[-1].sequence_number
rest = list(client.responses.retrieve(id, stream=True, starting_after=last))
assert rest[-1].type == "response.completed", rest[-1]
whole = list(client.responses.retrieve(id, stream=True))
assert [event.sequence_number for event in whole] == list(range(len(whole))), whole
assert [*first, *rest] == whole
text = "".join(event.delta for event in whole if event.type == "response.output_text.delta")
assert text == rest[-1].response.output_text == client.responses.retrieve(id).output_text, text

assert list(client.responses.retrieve(id, stream=True, starting_after=len(whole) - 1)) == []
beyond = refused(lambda: client.responses.retrieve(id, stream=True, starting_after=len(whole)), BadRequestError)
assert beyond.param == "starting_after", beyond
with client.responses.stream(response_id=id, starting_after=last) as stream:
    events = [event for event in stream]
    assert events[0].sequence_number == last + 1, events[0]
    assert stream.get_final_response().output_text == text

slow = begin(rate=20, tokens=2000)
stream = client.responses.retrieve(slow.id, stream=True)
seen = [next(stream) for _ in range(10)]
cancelled = client.responses.cancel(slow.id)
assert cancelled.status == "cancelled" and cancelled.output == [], cancelled
# This SDK hands out the event, where that for JavaScript throws it.
ending = list(stream)[-1]
assert (ending.type, ending.code) == ("error", "response_cancelled"), ending
assert until_over(client.responses.retrieve(slow.id)).status == "cancelled"
client.responses.delete(slow.id)
refused(lambda: client.responses.retrieve(slow.id), NotFoundError)
print(f"{len(first)} events, and the rest")
