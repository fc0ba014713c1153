import type { Environment } from '../load-config.ts';
import type { Logger } from '../log.ts';

/** The attributes of a span. Undefined values are left out. Never a prompt, an answer or a key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** The kind of a span (OpenTelemetry, "SpanKind"). */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** The context of a span as it travels: headers of W3C Trace Context, by name. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string | undefined;
}

export interface SpanOptions {
  attributes?: SpanAttributes | undefined;
  /** Start, a time of `performance.now()`; default: now. */
  startedAt?: number | undefined;
}

/** One span of a trace. */
export interface TraceSpan {
  /** 32 hexadecimal digits, for log lines. */
  readonly traceId: string;
  /** The context to send to whoever does a part of this work. */
  readonly context: TraceContext;
  child(name: string, kind: SpanKind, options?: SpanOptions): TraceSpan;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. Takes an error code, never a message: that may quote a client. */
  fail(code: string): void;
  /** Ends the span, now or at a time of `performance.now()`. No other method may be called afterwards. */
  end(at?: number): void;
}

/** The tracer of one process. */
export interface Tracing {
  /** Starts a span: a child of the parent, or the root of a new trace when the parent is absent or unreadable. */
  begin(name: string, kind: SpanKind, parent: TraceContext | undefined, options?: SpanOptions): TraceSpan;
  /** Sends the remaining spans, for two seconds at most. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** The service's name, as in its log lines. */
  service: string;
  /** Name of this instance among those of the service. */
  instance: string;
  environment: Environment;
  log: Pick<Logger, 'warn' | 'info'>;
}
