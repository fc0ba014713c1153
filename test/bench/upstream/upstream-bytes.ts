/** The one model of the fake upstream. */
export const upstreamModel = 'bench/llama-3.1-8b-instruct';

const id = 'chatcmpl-8f14e45fceea4672a1a07d1a2b3c4d5e';
const created = 1_792_000_000;
const words = [' a', ' bow', ' of', ' carbon', ' fibre', ',', ' which', ' you', ' can', ' try', ' here', '.'];

/** A stream's last event, which completes it. */
export const doneEvent = 'data: [DONE]\n\n';

/** The whole HTTP answer of a request that does not stream, as vLLM's server writes it. */
export const wholeAnswer = whole();

/** The head of a streamed answer, the chunk with the role, and the first token. */
export const streamHead = Buffer.concat([
  Buffer.from(
    'HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
  ),
  httpChunk(event({ delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null })),
  httpChunk(event({ delta: { content: 'Certainly' }, logprobs: null, finish_reason: null, token_ids: null })),
]);

const pieces = words.map((content) =>
  httpChunk(event({ delta: { content }, logprobs: null, finish_reason: null, token_ids: null })),
);

/** The HTTP chunk of a stream's token number `position`, counted from 0. */
export function streamPiece(position: number): Buffer {
  return pieces[position % pieces.length] ?? streamTail;
}

/** The last chunk, the usage, the end event and the end of the HTTP answer. */
export const streamTail = Buffer.concat([
  httpChunk(event({ delta: { content: '' }, logprobs: null, finish_reason: 'stop', stop_reason: null })),
  httpChunk(`data: ${JSON.stringify({ ...chunk(), choices: [], usage: usage() })}\n\n`),
  httpChunk(doneEvent),
  Buffer.from('0\r\n\r\n'),
]);

function whole(): Buffer {
  const body = JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model: upstreamModel,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: `Certainly${words.join('')}`,
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          tool_calls: [],
          reasoning: null,
        },
        logprobs: null,
        finish_reason: 'stop',
        stop_reason: null,
        token_ids: null,
      },
    ],
    service_tier: null,
    system_fingerprint: null,
    usage: usage(),
    prompt_logprobs: null,
    prompt_token_ids: null,
    kv_transfer_params: null,
  });
  const head = `HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-length: ${Buffer.byteLength(body)}\r\ncontent-type: application/json`;
  return Buffer.from(`${head}\r\n\r\n${body}`);
}

function event(choice: object): string {
  return `data: ${JSON.stringify({ ...chunk(), choices: [{ index: 0, ...choice }] })}\n\n`;
}

function chunk(): object {
  return { id, object: 'chat.completion.chunk', created, model: upstreamModel };
}

function usage(): object {
  return { prompt_tokens: 148, total_tokens: 161, completion_tokens: 13, prompt_tokens_details: null };
}

function httpChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
