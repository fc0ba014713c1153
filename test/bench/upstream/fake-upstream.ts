import { createServer } from 'node:net';
import { UpstreamConnection } from './upstream-connection.ts';

/**
 * An engine that costs next to nothing: answers chat completions as vLLM does, from bytes made beforehand, at the pace
 * that the request asks for. A process of its own; its parent is sent the port, and it ends when its parent does.
 */
const server = createServer({ noDelay: true }, (socket) => new UpstreamConnection(socket));
server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () => {
  const address = server.address();
  if (address && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit());
