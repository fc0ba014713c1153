import { UpstreamHttp, type UpstreamHttpOptions } from '#shared/upstream/upstream-http.ts';

/** Where the engine is and how long to wait for it. */
export interface EngineHttpOptions {
  /** Address of the engine, with or without a path that ends in `/v1`. */
  url: string;
  apiKey?: string | undefined;
  /** Connections for jobs at most. Jobs never wait for one, as long as there are no more jobs than this. */
  connections: number;
  connectTimeoutMs: number;
  /** Hears of every job's request when it is over. */
  onOver?: UpstreamHttpOptions['onOver'];
}

/** The connections to one engine. Paths begin at its root, because what tells about it often lies outside `/v1`. */
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
