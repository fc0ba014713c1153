import os
import time
from pathlib import Path

from anthropic import Anthropic, BadRequestError, NotFoundError

client = Anthropic()
batches = client.messages.batches
count = 60


def request(index, text=None, **more):
    content = text or f"Say {index}."
    params = {"model": os.environ["CLIENT_MODEL"], "max_tokens": 100, "messages": [{"role": "user", "content": content}]}
    return {"custom_id": f"request-{index}", "params": {**params, **more}}


def until_ended(batch):
    while batch.processing_status != "ended":
        time.sleep(0.1)
        batch = batches.retrieve(batch.id)
    return batch


def results_of(batch):
    """Each once, from the SDK's decoder of JSONL."""
    results = {}
    for one in batches.results(batch.id):
        assert one.custom_id not in results, one
        results[one.custom_id] = one.result
    return results


made = batches.create(requests=[*(request(index) for index in range(count)), request(count, model="nobody")])
assert made.type == "message_batch" and made.processing_status == "in_progress", made
done = until_ended(made)
counts = done.request_counts
assert (counts.processing, counts.succeeded, counts.errored) == (0, count, 1), counts
results = results_of(done)
assert len(results) == count + 1, results.keys()
for index in range(count):
    result = results[f"request-{index}"]
    assert result.type == "succeeded" and f"Say {index}." in result.message.content[0].text, result
assert results[f"request-{count}"].type == "errored", results
assert results[f"request-{count}"].error.error.type == "not_found_error", results

slow = batches.create(requests=[request(index, "Hi.\n[demo delay=60000]") for index in range(10)])
try:
    batches.delete(slow.id)
    raise SystemExit("a batch that runs is deleted")
except BadRequestError:
    pass
assert batches.cancel(slow.id).processing_status in ("canceling", "ended")
cancelled = until_ended(slow)
assert cancelled.request_counts.canceled == 10 and cancelled.cancel_initiated_at, cancelled
assert {result.type for result in results_of(cancelled).values()} == {"canceled"}

assert [one.id for one in batches.list(limit=1)] == [cancelled.id, done.id]
beta = client.beta.messages.batches.retrieve(done.id)
assert beta.id == done.id and beta.request_counts.succeeded == count, beta
assert batches.delete(done.id).type == "message_batch_deleted"
try:
    batches.retrieve(done.id)
    raise SystemExit("a batch that was deleted is found")
except NotFoundError:
    pass

note = Path("note.txt")
note.write_text("A note.")
for files in (client.files, client.beta.files):
    file = files.upload(file=note)
    assert file.filename == "note.txt" and file.mime_type == "text/plain" and file.size_bytes == 7, file
    assert files.retrieve_metadata(file.id).id == file.id
    files.download(file.id).write_to_file("copy.txt")
    assert Path("copy.txt").read_text() == "A note."
    assert file.id in [one.id for one in files.list(limit=1)]
    assert files.delete(file.id).type == "file_deleted"
    try:
        files.download(file.id)
        raise SystemExit("a file that was deleted is read")
    except NotFoundError:
        pass
print(f"{len(results)} results")
