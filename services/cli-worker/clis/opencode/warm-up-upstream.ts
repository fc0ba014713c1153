import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An upstream that gives every request the same short answer. */
export interface WarmUpUpstream {
  /** Base URL of its chat completions. */
  url: string;
  close(): void;
}

const chunks = [{ role: 'assistant', content: 'Hello' }, {}].map((delta, at) => ({
  id: 'chatcmpl-warm-up',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'none',
  choices: [{ index: 0, delta, finish_reason: at === 1 ? 'stop' : null }],
}));
const answer = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');

/** Starts a warm-up upstream on a free port of the loopback interface. */
export async function startWarmUpUpstream(): Promise<WarmUpUpstream> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
