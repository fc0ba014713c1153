import type { FetchLike } from '@modelcontextprotocol/client';

const lineBreak = 0x0a;

/**
 * A fetch whose answers' bodies are bounded: the client reads them whole, or event by event, into memory. Of a stream of
 * events each one is bounded, since the stream itself may last for days.
 */
export function createBoundedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    const answer = await fetch(url, init);
    // A redirect is the client's business, and has nothing to read.
    if (!answer.body || (answer.status >= 300 && answer.status < 400)) return answer;
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const body = answer.body.pipeThrough(boundedStream(maxBytes, isStream));
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  };
}

function boundedStream(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? lastEventEnd(chunk) : -1;
      bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
      if (bytes > maxBytes) throw new Error(`the server sent more than ${maxBytes} bytes at once`);
      controller.enqueue(chunk);
    },
  });
}

/** Where the last event ends that ends in a chunk, or -1: an empty line, with or without carriage returns. */
function lastEventEnd(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let at = text.lastIndexOf(lineBreak); at > 0; at = text.lastIndexOf(lineBreak, at - 1)) {
    if (text[at - 1] === lineBreak || (text[at - 1] === 0x0d && text[at - 2] === lineBreak)) return at + 1;
  }
  return -1;
}
