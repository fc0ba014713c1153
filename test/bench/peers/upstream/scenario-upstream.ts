import { createServer } from 'node:net';
import { ScenarioConnection } from './scenario-connection.ts';

/*
 * An engine that costs next to nothing: answers in both formats, as the scenario of the requested model says. A process of its own; its
 * parent is sent the port, and it ends when its parent does.
 */
const server = createServer({ noDelay: true }, (socket) => new ScenarioConnection(socket));
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const address = server.address();
  if (address && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit());
