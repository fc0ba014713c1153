import { inject } from 'vitest';
import { startServer } from './start-server.ts';
import type { TestServer } from './test-server.ts';

/** Starts a Redis server with the append-only file on for one test file. Call its `stop` in `afterAll`. */
export function startRedis(): Promise<TestServer> {
  return startServer('redis', inject('serverSource'));
}
