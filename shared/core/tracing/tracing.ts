import type { Environment } from '../load-config.ts';
import type { Logger } from '../log.ts';

/** Maximum bytes in UTF-8 of one attribute with messages. */
export const maxMessageBytes = 64 * 1024;

/** Maximum bytes of all attributes with messages that wait to be sent. Collectors take about as much in one request. */
export const maxWaitingMessageBytes = 16 * 1024 * 1024;

/**
 * The outcome of a span's messages: they wait to be sent with the span (`queued`); there was no room for the messages or for the span
 * (`full`); or the span had ended already (`late`).
 */
export type MessagesOutcome = 'queued' | 'full' | 'late';

/**
 * The attributes of a span. Undefined values are dropped, and strings are cut at 256 characters. Never add a prompt, an answer or a key;
 * see `TraceSpan.setMessages`.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** The kind of a span (OpenTelemetry, "SpanKind"). */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** The context of a span that is sent to another process: headers of W3C Trace Context, by name. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string | undefined;
}

export interface SpanOptions {
  attributes?: SpanAttributes | undefined;
  /** Start, in milliseconds of `performance.now()`; default: now. */
  startedAt?: number | undefined;
}

export interface TraceSpan {
  /** 32 hexadecimal digits, for log lines. */
  readonly traceId: string;
  /** The context to send to another process, so that its spans become children of this span. */
  readonly context: TraceContext;
  child(name: string, kind: SpanKind, options?: SpanOptions): TraceSpan;
  /** Whether the span will be sent. If not, its attributes need not be computed. */
  readonly isSampled: boolean;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /**
   * Adds the messages of a request to the span when it ends, if there is room. Only for a recorded request whose owner and operator want
   * the messages in traces.
   * @param messages JSON texts of at most `maxMessageBytes`, by the names of attributes
   * @param onOutcome called once, at the end of the span at the latest
   */
  setMessages(messages: Readonly<Record<string, string>>, onOutcome: (outcome: MessagesOutcome) => void): void;
  /** Marks the span as failed. Takes an error code, never a message, which may quote a client. */
  fail(code: string): void;
  /** Ends the span, now or at a time of `performance.now()`. No other method may be called afterwards. */
  end(at?: number): void;
}

export interface Tracing {
  /** Starts a span: a child of the parent, or the root of a new trace if the parent is absent or invalid. */
  begin(name: string, kind: SpanKind, parent: TraceContext | undefined, options?: SpanOptions): TraceSpan;
  /** Sends the remaining spans, for two seconds at most. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** The service's name, as in its log lines. */
  service: string;
  /** The name of this instance, unique among the instances of the service. */
  instance: string;
  environment: Environment;
  log: Pick<Logger, 'warn' | 'info'>;
}
