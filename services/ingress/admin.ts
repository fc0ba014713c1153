import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Health } from './health.ts';

/** The operators' own port: Prometheus metrics and health, never exposed to clients. */
export function createAdminServer(registry: Registry, health: () => Promise<Health>): Server {
  return createServer((request, response) => {
    const answer = async (): Promise<{ status: number; type: string; body: string }> => {
      if (request.url === '/metrics')
        return { status: 200, type: registry.contentType, body: await registry.metrics() };
      if (request.url === '/health')
        return { status: 200, type: 'application/json', body: JSON.stringify(await health()) };
      return { status: 404, type: 'text/plain', body: 'Here are /metrics and /health.\n' };
    };
    answer()
      .catch(() => ({ status: 500, type: 'text/plain', body: 'The metrics could not be collected.\n' }))
      .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
}
