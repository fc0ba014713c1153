/** What a span says of itself. Undefined values are left out. Never a prompt, an answer or a key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** Who a span's work is between (OpenTelemetry, "SpanKind"). */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** A place in a trace, as it travels: header names and values of W3C Trace Context. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string | undefined;
}

export interface SpanOptions {
  attributes?: SpanAttributes | undefined;
  /** When it began, a time of `performance.now()`; now when it is left out. */
  startedAt?: number | undefined;
}

/** One piece of work in a trace. */
export interface TraceSpan {
  /** 32 hexadecimal digits, for log lines. */
  readonly traceId: string;
  /** What whoever does a part of this work is to be sent. */
  readonly context: TraceContext;
  child(name: string, kind: SpanKind, options?: SpanOptions): TraceSpan;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. A code, as of the table of errors, and no sentence: that may quote what a client said. */
  fail(code: string): void;
  /** Ends it, now or at a time of `performance.now()`. Nothing can be said of it afterwards. */
  end(at?: number): void;
}

/** Traces of one process. */
export interface Tracing {
  /** Begins this process's part of a trace, or a new one where there is no parent or none that can be read. */
  begin(name: string, kind: SpanKind, parent: TraceContext | undefined, options?: SpanOptions): TraceSpan;
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>;
}
