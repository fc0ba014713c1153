import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Logger } from './log.ts';

/** The answer of `/health`: `ready` selects the status 200 or 503; `facts` is the body. */
export interface Readiness {
  ready: boolean;
  facts: object;
}

export interface AdminPages {
  log: Pick<Logger, 'error'>;
  registry: Registry;
  health: () => Readiness | Promise<Readiness>;
  /** Further pages by path, each a JSON value. A page that returns undefined is answered with 503. */
  otherPages?: Readonly<Record<string, () => object | undefined>>;
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

const failureAnswer: Answer = { status: 500, type: 'text/plain', body: 'The page failed; see the log.\n' };

/**
 * Creates the server of the operators' port, which must never be exposed to clients. `/metrics` is for Prometheus. `/health` answers 200 if
 * the service is ready for work, otherwise 503. `/live` answers 200 while the event loop runs. Each service may add further pages.
 */
export function createAdminServer(pages: AdminPages): Server {
  const { log, registry, health, otherPages = {} } = pages;
  const paths = ['/metrics', '/health', '/live', ...Object.keys(otherPages)];

  async function answer(path: string): Promise<Answer> {
    switch (path) {
      case '/metrics':
        return { status: 200, type: registry.contentType, body: await registry.metrics() };
      case '/live':
        return { status: 200, type: 'text/plain', body: 'yes\n' };
      case '/health': {
        const { ready, facts } = await health();
        return toJsonAnswer(ready ? 200 : 503, facts);
      }
      default: {
        const page = Object.hasOwn(otherPages, path) ? otherPages[path] : undefined;
        if (!page) return { status: 404, type: 'text/plain', body: `Not found. Pages: ${paths.join(', ')}.\n` };
        const content = page();
        return content ? toJsonAnswer(200, content) : toJsonAnswer(503, { error: 'there is no data yet' });
      }
    }
  }

  return createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    answer(path)
      .catch((error: unknown) => {
        log.error({ err: error, path }, 'a page of the admin port failed');
        return failureAnswer;
      })
      .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
}

function toJsonAnswer(status: number, value: object): Answer {
  return { status, type: 'application/json', body: JSON.stringify(value) };
}
