import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DemoEngineConfig } from './config.ts';
import { createEngine } from './engine.ts';
import { routeRequest } from './route-request.ts';

export interface RunningDemoEngine {
  /** URL of the engine, such as `http://127.0.0.1:40123`. The API is below `/v1`. */
  url: string;
  close(): Promise<void>;
}

/**
 * Starts the demo engine: a server for OpenAI's chat API in vLLM's form, without weights.
 * @param onError called with defects of the engine itself. Clients receive status 500 for them
 * @throws ConfigError when `DEMO_OPTIONS` is invalid; the listen error when the port is taken
 */
export async function startDemoEngine(
  config: DemoEngineConfig,
  onError: (error: unknown) => void = (error) =>
    process.emitWarning(error instanceof Error ? error : new Error(String(error))),
): Promise<RunningDemoEngine> {
  const engine = createEngine(config);
  // Most clients close idle connections earlier. The engine then does not close a connection on which a request arrives.
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    void routeRequest(engine, request, response, onError);
  });
  server.listen(config.PORT, config.HOST);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}
