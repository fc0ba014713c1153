import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BatchSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WaitingMessages } from '#shared/core/tracing/waiting-messages.ts';
import { until } from '../../../helpers/until.ts';

/** A tracer with a queue of four spans, whose exports are answered by the test. */
function tracing(bytes: number) {
  const waiting = new WaitingMessages({ bytes, spans: 4 });
  const exports: { spans: ReadableSpan[]; done: (result: ExportResult) => void }[] = [];
  const processor = new BatchSpanProcessor({
    exporter: waiting.wrapExporter({
      export: (spans, done) => void exports.push({ spans, done }),
      shutdown: async () => undefined,
    }),
    maxQueueSize: 4,
    maxExportBatchSize: 4,
    scheduledDelayMillis: 60_000,
  });
  const provider = new TracerProvider({ spanProcessors: [waiting.createCountingProcessor(), processor] });
  const tracer = provider.getTracer('test');
  onTestFinished(() => exports.forEach(({ done }) => done({ code: ExportResultCode.SUCCESS })));
  /** Ends a span with this many bytes of messages; without messages if 0. */
  const end = (size?: number): boolean | undefined => {
    const span = tracer.startSpan('one');
    const isAdded = size === undefined ? undefined : waiting.add(span, { text: 'x'.repeat(size) });
    span.end();
    return isAdded;
  };
  return { waiting, exports, end };
}

describe('messages that wait to be sent', () => {
  it('are limited in sum, and free their room when their spans were sent or could not be', async () => {
    const { waiting, exports, end } = tracing(100);
    expect([end(60), end(60), end(40), end(1)]).toEqual([true, false, true, false]);
    await until(() => exports.length === 1);
    const attributes = [{ text: 'x'.repeat(60) }, {}, { text: 'x'.repeat(40) }, {}];
    expect(exports[0]?.spans.map((span) => span.attributes)).toEqual(attributes);
    // They are on their way.
    expect([waiting.bytes, end(60)]).toEqual([100, false]);
    exports[0]?.done({ code: ExportResultCode.FAILED, error: new Error('away') });
    expect([waiting.bytes, end(60)]).toEqual([0, true]);
  });

  it('are counted in bytes, not in characters', () => {
    const { waiting, end } = tracing(5);
    expect(end(5)).toBe(true);
    expect(waiting.bytes).toBe(5);
    const { waiting: other } = tracing(5);
    const span = new TracerProvider({}).getTracer('test').startSpan('one');
    expect(other.add(span, { text: 'äää' })).toBe(false);
    expect(other.add(span, { text: 'ää' })).toBe(true);
    expect(other.bytes).toBe(4);
  });

  it('are not added to a span that the queue drops, whose room would never be freed', async () => {
    const { waiting, exports, end } = tracing(1_000);
    for (let count = 0; count < 4; count += 1) end();
    await until(() => exports.length === 1);
    // The first four are being sent; four further ones fill the queue, and the fifth is dropped.
    expect([end(10), end(10), end(10), end(10), end(10)]).toEqual([true, true, true, true, false]);
    expect(waiting.bytes).toBe(40);
    exports[0]?.done({ code: ExportResultCode.SUCCESS });
    await until(() => exports.length === 2);
    exports[1]?.done({ code: ExportResultCode.SUCCESS });
    expect(exports[1]?.spans).toHaveLength(4);
    expect(waiting.bytes).toBe(0);
    // Dropped spans take no place in the queue.
    expect([end(10), end(10), end(10), end(10)]).toEqual([true, true, true, true]);
  });
});
