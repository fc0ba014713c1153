import { buffer } from 'node:stream/consumers';
import { decodeSpans, type ReceivedSpan } from './decode-spans.ts';
import { serveHttp } from '../servers/serve-http.ts';
import { until } from '../until.ts';

/** A collector of traces that keeps everything it receives. */
export interface Collector {
  /** Environment of a service that sends its traces here. */
  environment: Record<string, string>;
  spans: ReceivedSpan[];
  /** All received bodies. */
  raw: Buffer[];
  /** Waits for this number of spans of one trace, and a moment longer for surplus ones. */
  trace(traceId: string, count: number): Promise<ReceivedSpan[]>;
  stop(): Promise<void>;
}

/** Starts a server that accepts OTLP over HTTP, in protobuf. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const raw: Buffer[] = [];
  const { url, stop } = await serveHttp(async (request, response) => {
    const body = await buffer(request);
    raw.push(body);
    spans.push(...decodeSpans(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  return {
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    spans,
    raw,
    trace: async (traceId, count) => {
      const found = (): ReceivedSpan[] => spans.filter((span) => span.traceId === traceId);
      await until(() => found().length >= count).catch(() => undefined);
      return found();
    },
    stop,
  };
}
