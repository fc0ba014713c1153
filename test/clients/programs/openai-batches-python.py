import json
import os
import time
from pathlib import Path

from openai import BadRequestError, NotFoundError, OpenAI

client = OpenAI()
model = os.environ["CLIENT_MODEL"]
count = 120


def line(index, **more):
    body = {"model": model, "messages": [{"role": "user", "content": f"Say {index}."}], **more}
    return {"custom_id": f"line-{index}", "method": "POST", "url": "/v1/chat/completions", "body": body}


def upload(lines):
    path = Path("in.jsonl")
    path.write_text("\n".join(json.dumps(one) for one in lines))
    with path.open("rb") as opened:
        made = client.files.create(file=opened, purpose="batch")
    return client.files.wait_for_processing(made.id)


def begin(file):
    return client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"night": "1"},
        output_expires_after={"anchor": "created_at", "seconds": 7200},
    )


def until_over(batch):
    while batch.status not in ("completed", "failed", "expired", "cancelled"):
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    return batch


def lines_of(id):
    return {one["custom_id"]: one for one in map(json.loads, client.files.content(id).text.splitlines())}


good = [line(index) for index in range(count)]
file = upload([*good, line(count, model="nobody")])
assert file.status == "processed" and file.purpose == "batch" and file.filename == "in.jsonl", file
batch = begin(file)
assert batch.object == "batch" and batch.status == "validating", batch
done = until_over(batch)
assert done.status == "completed" and done.metadata == {"night": "1"}, done
counts = done.request_counts
assert (counts.total, counts.completed, counts.failed) == (count + 1, count, 1), counts
answers = lines_of(done.output_file_id)
assert set(answers) == {one["custom_id"] for one in good}, answers.keys()
for index in range(count):
    body = answers[f"line-{index}"]["response"]["body"]
    assert f"Say {index}." in body["choices"][0]["message"]["content"], body
assert done.usage.total_tokens == sum(one["response"]["body"]["usage"]["total_tokens"] for one in answers.values())
errors = lines_of(done.error_file_id)
assert {id: one["response"]["status_code"] for id, one in errors.items()} == {f"line-{count}": 404}, errors

output = client.files.retrieve(done.output_file_id)
assert output.purpose == "batch_output" and output.expires_at - output.created_at == 7200, output
client.files.content(output.id).write_to_file("out.jsonl")
assert Path("out.jsonl").stat().st_size == output.bytes, output
with client.files.with_streaming_response.content(output.id) as response:
    assert sum(1 for _ in response.iter_lines()) == count

slow = begin(upload([line(index, demo={"first_token_delay_ms": 60000}) for index in range(20)]))
while slow.status != "in_progress":
    time.sleep(0.1)
    slow = client.batches.retrieve(slow.id)
assert client.batches.cancel(slow.id).status == "cancelling"
cancelled = until_over(slow)
assert cancelled.status == "cancelled" and cancelled.request_counts.completed == 0, cancelled
codes = {one["error"]["code"] for one in lines_of(cancelled.error_file_id).values()}
assert codes == {"batch_cancelled"}, codes

failed = until_over(begin(upload([line(0), line(0)])))
assert failed.status == "failed", failed
assert [(one.line, one.code) for one in failed.errors.data] == [(2, "duplicate_custom_id")], failed.errors

assert [one.id for one in client.batches.list(limit=2)] == [failed.id, cancelled.id, done.id]
inputs = [one.id for one in client.files.list(purpose="batch", order="asc", limit=1)]
assert len(inputs) == 3 and inputs[0] == file.id, inputs
assert client.files.delete(file.id).deleted
try:
    client.files.retrieve(file.id)
    raise SystemExit("a file that was deleted is found")
except NotFoundError as error:
    assert error.code == "not_found", error
try:
    client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    raise SystemExit("a batch of a file that was deleted is created")
except (BadRequestError, NotFoundError) as error:
    assert file.id in error.message, error
print(f"{len(answers)} answers")
