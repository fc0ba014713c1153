import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { relay } from '../servers/relay.ts';
import { serveHttp } from '../servers/serve-http.ts';

/** A proxy in front of an engine that records its requests. */
export interface EngineProxy {
  url: string;
  /** Headers of every request to generate. */
  asked: IncomingHttpHeaders[];
  /** Number of the next requests to generate that are answered with 500 instead. */
  failNext: number;
  /** Answers requests to generate instead of the engine, while it is set. */
  fault: ((response: ServerResponse) => void) | undefined;
  stop(): Promise<void>;
}

/** Starts a proxy in front of an engine. `engineUrl` returns the engine's address when the first request comes. */
export async function startEngineProxy(engineUrl: () => string): Promise<EngineProxy> {
  const asked: IncomingHttpHeaders[] = [];
  const { url, stop } = await serveHttp((request, response) => {
    if (request.url?.endsWith('/chat/completions')) {
      asked.push(request.headers);
      if (self.fault) {
        request.resume();
        self.fault(response);
        return;
      }
      if (self.failNext > 0) {
        self.failNext -= 1;
        request.resume();
        response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
        return;
      }
    }
    relay(engineUrl(), request, response);
  });
  const self: EngineProxy = { url, asked, failNext: 0, fault: undefined, stop };
  return self;
}
