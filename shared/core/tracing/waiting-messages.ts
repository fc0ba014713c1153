import type { Span } from '@opentelemetry/api';
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

/**
 * Limits the bytes of messages in spans that wait to be sent. Messages count from the end of their span until the span was sent or could
 * not be sent. A full queue drops spans silently, so this class also counts the queued spans, and adds messages only to a span for which
 * the queue has room.
 */
export class WaitingMessages {
  readonly #max: { bytes: number; spans: number };
  readonly #sizes = new WeakMap<object, number>();
  #bytes = 0;
  #spans = 0;

  /** @param max maximum bytes of all messages, and the number of spans at which the queue is full */
  constructor(max: { bytes: number; spans: number }) {
    this.#max = max;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds messages to a span. Call it right before the span ends.
   * @returns false if there is no room
   */
  add(span: Span, messages: Readonly<Record<string, string>>): boolean {
    const bytes = Object.values(messages).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (this.#spans >= this.#max.spans || this.#bytes + bytes > this.#max.bytes) return false;
    span.setAttributes(messages);
    this.#sizes.set(span, bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Creates the processor that counts queued spans. It must come before the processor with the queue. */
  createCountingProcessor(): SpanProcessor {
    return {
      onStart: () => undefined,
      onEnd: () => {
        if (this.#spans < this.#max.spans) this.#spans += 1;
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
  }

  /** Wraps an exporter so that messages no longer count when their spans have been sent or could not be sent. */
  wrapExporter(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        this.#spans -= spans.length;
        exporter.export(spans, (result) => {
          for (const span of spans) this.#bytes -= this.#sizes.get(span) ?? 0;
          done(result);
        });
      },
      forceFlush: async () => exporter.forceFlush?.(),
      shutdown: () => exporter.shutdown(),
    };
  }
}
