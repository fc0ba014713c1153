import type { Span } from '@opentelemetry/api';
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

/**
 * Bounds the messages of spans that wait to be sent, in sum. They have room from the end of their span until it was sent, or could not
 * be. A queue that is full drops spans without a word, so the queued spans are counted here as well: one with messages is never dropped.
 */
export class WaitingMessages {
  readonly #most: { bytes: number; spans: number };
  readonly #sizes = new WeakMap<object, number>();
  #bytes = 0;
  #spans = 0;

  /** @param most bytes of all messages, and spans of the queue, from which it drops further ones */
  constructor(most: { bytes: number; spans: number }) {
    this.#most = most;
  }

  /** Bytes of messages that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds messages to a span, to be called right before it ends. @returns false if there is no room */
  add(span: Span, messages: Readonly<Record<string, string>>): boolean {
    const bytes = Object.values(messages).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (this.#spans >= this.#most.spans || this.#bytes + bytes > this.#most.bytes) return false;
    span.setAttributes(messages);
    this.#sizes.set(span, bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Counts the spans that are queued. It stands before the processor that has the queue. */
  counting(): SpanProcessor {
    return {
      onStart: () => undefined,
      onEnd: () => {
        if (this.#spans < this.#most.spans) this.#spans += 1;
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
  }

  /** An exporter that gives room back when the spans have been sent, or could not be. */
  releasing(exporter: SpanExporter): SpanExporter {
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
