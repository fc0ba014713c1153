import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { traceRequests } from '#services/ingress/http/trace-request.ts';
import { Recorder } from '#services/ingress/recording/recorder.ts';
import { createRecordedTraces, type TracedOutcome } from '#services/ingress/recording/recorded-traces.ts';
import { createContext } from '#services/ingress/http/request-context.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import type { KeepOutcome } from '#shared/store/owned-store/owned-store.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { identityOf } from '../../../helpers/serving/serving-parts.ts';
import { startCollector } from '../../../helpers/tracing/start-collector.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const silent = { warn: () => undefined, info: () => undefined };
const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello.' }] };

let tracing: Tracing | undefined;

const collector = useStarted(() => startCollector());
beforeAll(async () => {
  // The exporter reads the environment of the process.
  for (const [name, value] of Object.entries(collector.environment)) vi.stubEnv(name, value);
  tracing = await openTracing({ service: 'test', instance: 'one', environment: collector.environment, log: silent });
});
afterAll(async () => {
  await tracing?.close();
  vi.unstubAllEnvs();
});

/** Returns what the span of a request shows that is recorded in a store, which answers later. */
async function recordedIn(keep: () => Promise<KeepOutcome>, traceId: string) {
  if (!tracing) throw new Error('there is no tracing');
  const outcomes: TracedOutcome[] = [];
  const isServed = Promise.withResolvers<void>();
  const recorder = new Recorder({
    recordings: { store: () => isServed.promise.then(keep) },
    bytes: 1_000,
    roomBytes: 10_000,
    count: () => undefined,
    traces: createRecordedTraces({ formats: clientFormats, count: (outcome) => outcomes.push(outcome), log: silent }),
    log: silent,
  });
  const app = express();
  app.use((_, response, next) => {
    const sender = { id: 'k1', name: 'laptop', kind: 'user', ownerId: 'ada' } as const;
    createContext(response, 'r1').sender = identityOf(sender);
    next();
  });
  app.use(traceRequests(tracing));
  app.post('/ask', (request, response) => {
    recorder.begin(request, response, 'chat', Buffer.from(JSON.stringify(body)));
    response.end('fine');
  });
  const { url, stop } = await serveHttp(app);
  const headers = { traceparent: `00-${traceId}-${'1'.repeat(16)}-01` };
  await fetch(`${url}/ask`, { method: 'POST', headers });
  await sleep(50);
  const servedAt = Date.now();
  isServed.resolve();
  await recorder.close();
  await stop();
  const [span] = await collector.trace(traceId, 1);
  const isOverBefore = span && Number(span.end) / 1e6 < servedAt;
  return { outcomes, asked: span?.attributes['gen_ai.input.messages'], isOverBefore };
}

describe.concurrent('the span of a recorded request', () => {
  const whole = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Hello.' }] }]);

  it.for<[KeepOutcome, TracedOutcome, string | undefined]>([
    ['kept', 'queued', whole],
    ['full', 'queued', whole],
    ['gone', 'gone', undefined],
  ])('whose recording is %s: its messages are %s', async ([kept, traced, messages], { expect }) => {
    const { outcomes, asked } = await recordedIn(async () => kept, Buffer.from(kept.padEnd(16)).toString('hex'));
    expect({ outcomes, asked }).toEqual({ outcomes: [traced], asked: messages });
  });

  it('has no messages unless the store confirms that the owner still exists', async ({ expect }) => {
    const { outcomes, asked } = await recordedIn(
      () => Promise.reject(createStoreUnavailableError('away')),
      'a'.repeat(32),
    );
    expect({ outcomes, asked }).toEqual({ outcomes: ['lost'], asked: undefined });
  });

  it('ends with its response, not when the store has answered', async ({ expect }) => {
    const { outcomes, isOverBefore } = await recordedIn(async () => 'kept', 'b'.repeat(32));
    expect({ outcomes, isOverBefore }).toEqual({ outcomes: ['queued'], isOverBefore: true });
  });
});
