import { chatBytes } from '../peers/upstream/answer-bytes.ts';

/** The one model of the fake upstream. */
export const upstreamModel = 'bench/llama-3.1-8b-instruct';

const words = [' a', ' bow', ' of', ' carbon', ' fibre', ',', ' which', ' you', ' can', ' try', ' here', '.'];

/** A stream's last event, which completes it. */
export const doneEvent = 'data: [DONE]\n\n';

const whole = chatBytes.whole(upstreamModel);

/** The whole HTTP answer of a request that does not stream. */
export const wholeAnswer = Buffer.from(
  `HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-length: ${Buffer.byteLength(whole)}\r\ncontent-type: application/json\r\n\r\n${whole}`,
);

/** The head of a streamed answer, the chunk with the role, and the first token. */
export const streamHead = Buffer.concat([
  Buffer.from(
    'HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
  ),
  httpChunk(chatBytes.begin(upstreamModel)),
  httpChunk(chatBytes.text(upstreamModel, 'Certainly')),
]);

const pieces = words.map((word) => httpChunk(chatBytes.text(upstreamModel, word)));

/** The HTTP chunk of a stream's token number `position`, counted from 0. */
export function streamPiece(position: number): Buffer {
  return pieces[position % pieces.length] ?? streamTail;
}

/** The last chunk, the usage, the end event and the end of the HTTP answer. */
export const streamTail = Buffer.concat([
  httpChunk(chatBytes.end(upstreamModel, words.length + 1)),
  Buffer.from('0\r\n\r\n'),
]);

function httpChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
