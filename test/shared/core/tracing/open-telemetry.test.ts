import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import { startCollector } from '../../../helpers/tracing/start-collector.ts';
import { useStarted } from '../../../helpers/use-started.ts';

let tracing: Tracing | undefined;

const collector = useStarted(() => startCollector());
beforeAll(async () => {
  // The exporter reads the environment of the process.
  for (const [name, value] of Object.entries(collector.environment)) vi.stubEnv(name, value);
  const log = { warn: vi.fn(), info: vi.fn() };
  tracing = await openTracing({ service: 'test', instance: 'one', environment: collector.environment, log });
});
afterAll(async () => {
  await tracing?.close();
  vi.unstubAllEnvs();
});

/** A span in a trace of its own. */
function begin(traceId: string, flags = '01') {
  const span = tracing?.begin('one', 'server', { traceparent: `00-${traceId}-${'1'.repeat(16)}-${flags}` });
  if (!span) throw new Error('there is no tracing');
  return span;
}

describe('the values of a span', () => {
  it('are cut at 256 characters, except messages', async () => {
    const span = begin('a'.repeat(32));
    const report = vi.fn();
    const long = 'x'.repeat(1_000);
    span.set({ text: long, list: [long, 'short'], number: 1, none: undefined });
    span.setMessages({ messages: 'y'.repeat(60_000) }, report);
    expect(report).not.toHaveBeenCalled();
    span.end();
    expect(report.mock.calls).toEqual([['queued']]);
    const [sent] = await collector.trace('a'.repeat(32), 1);
    const cut = 'x'.repeat(256);
    expect(sent?.attributes).toEqual({ text: cut, list: [cut, 'short'], number: 1, messages: 'y'.repeat(60_000) });
  });

  it('get no messages once the span has ended', () => {
    const span = begin('b'.repeat(32));
    span.end();
    const report = vi.fn();
    span.setMessages({ messages: '[]' }, report);
    expect(report.mock.calls).toEqual([['late']]);
  });

  it('need not be computed for a span that is not sampled', () => {
    expect([begin('c'.repeat(32)).isSampled, begin('d'.repeat(32), '00').isSampled]).toEqual([true, false]);
  });
});
