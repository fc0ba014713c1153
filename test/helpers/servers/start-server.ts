import { timeStart } from '../processes/starts.ts';
import { startLocalServer } from './local-server.ts';
import type { ServerKind, ServerSource, TestServer } from './test-server.ts';

export function startServer(kind: ServerKind, source: ServerSource): Promise<TestServer> {
  return timeStart('server', () => start(kind, source));
}

async function start(kind: ServerKind, source: ServerSource): Promise<TestServer> {
  if (source === 'local') return startLocalServer(kind);
  // Loaded only where containers are used: loading the library takes a second.
  const { startContainerServer } = await import('./container-server.ts');
  return startContainerServer(kind);
}
