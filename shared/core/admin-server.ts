import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Logger } from './log.ts';

/** What /health says: `ready` decides between 200 and 503, the rest is shown. */
export interface Readiness {
  ready: boolean;
  facts: object;
}

export interface AdminPages {
  log: Pick<Logger, 'error'>;
  registry: Registry;
  health: () => Readiness | Promise<Readiness>;
  /** Further pages by path, each a JSON value; undefined is told as 503: nothing is known yet. */
  further?: Readonly<Record<string, () => object | undefined>>;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

const failed: Answer = { status: 500, type: 'text/plain', body: 'The page could not be made; see the log.\n' };

/**
 * The operators' own port, never exposed to clients. `/metrics` for Prometheus; `/health` with 200 when the part is ready for
 * work, else 503; `/live` with 200 for as long as the event loop turns; and what else the part has to tell.
 */
export function createAdminServer(pages: AdminPages): Server {
  const { log, registry, health, further = {} } = pages;
  const paths = ['/metrics', '/health', '/live', ...Object.keys(further)];

  async function answer(path: string): Promise<Answer> {
    switch (path) {
      case '/metrics':
        return { status: 200, type: registry.contentType, body: await registry.metrics() };
      case '/live':
        return { status: 200, type: 'text/plain', body: 'yes\n' };
      case '/health': {
        const { ready, facts } = await health();
        return inJson(ready ? 200 : 503, facts);
      }
      default: {
        const page = Object.hasOwn(further, path) ? further[path] : undefined;
        if (!page) return { status: 404, type: 'text/plain', body: `Here are ${paths.join(', ')}.\n` };
        const known = page();
        return known ? inJson(200, known) : inJson(503, { error: 'nothing is known yet' });
      }
    }
  }

  return createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    answer(path)
      .catch((error: unknown) => {
        log.error({ err: error, path }, 'a page of the admin port could not be made');
        return failed;
      })
      .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
}

function inJson(status: number, value: object): Answer {
  return { status, type: 'application/json', body: JSON.stringify(value) };
}
