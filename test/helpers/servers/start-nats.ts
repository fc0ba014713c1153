import { inject } from 'vitest';
import { startServer } from './start-server.ts';
import type { TestServer } from './test-server.ts';

/** Starts a NATS server with JetStream for one test file. Call its `stop` in `afterAll`. */
export function startNats(): Promise<TestServer> {
  return startServer('nats', inject('serverSource'));
}
