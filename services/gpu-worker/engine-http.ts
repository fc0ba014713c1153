import { UpstreamHttp, type UpstreamHttpOptions } from '#shared/upstream/upstream-http.ts';

export interface EngineHttpOptions {
  /** Address of the engine, with or without `/v1` at its end. */
  url: string;
  apiKey?: string | undefined;
  /** Maximum number of connections for jobs. No job waits for a connection if at most this many run at once. */
  connections: number;
  connectTimeoutMs: number;
  /** Called when a job's request has ended. */
  onOver?: UpstreamHttpOptions['onOver'];
}

/**
 * The connections to one engine. Paths begin at the root of the engine's address, because its information endpoints are often outside
 * `/v1`.
 */
export class EngineHttp extends UpstreamHttp {
  constructor({ url, apiKey, connections, connectTimeoutMs, onOver }: EngineHttpOptions) {
    const headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
    super({
      url: url.replace(/\/+$/, '').replace(/\/v1$/, ''),
      connections,
      connectTimeoutMs,
      headers: () => headers,
      allowH2: false,
      onOver,
    });
  }
}
