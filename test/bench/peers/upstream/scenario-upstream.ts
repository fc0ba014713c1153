import { createServer } from 'node:net';
import { ScenarioConnection } from './scenario-connection.ts';

/*
 * An engine that costs next to nothing: answers in both formats with the scenario of the requested model. Runs as a process of its own,
 * sends its port to its parent, and ends when its parent does.
 */
const server = createServer({ noDelay: true }, (socket) => new ScenarioConnection(socket));
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const address = server.address();
  if (address && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit());
