import {
  ROOT_CONTEXT,
  SpanKind as Kinds,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { TraceState, parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import { version } from '../version.ts';
import { createSampler } from './sampler.ts';
import {
  maxMessageBytes,
  maxWaitingMessageBytes,
  type SpanAttributes,
  type SpanKind,
  type SpanOptions,
  type TraceContext,
  type TraceSpan,
  type Tracing,
  type TracingOptions,
} from './tracing.ts';
import { WaitingMessages } from './waiting-messages.ts';

/** Milliseconds between two batches of spans. */
const sendIntervalMs = 1_000;

/** Maximum spans that wait to be sent; further spans are dropped, for instance while the collector is down. */
const maxQueued = 4_096;

/** Maximum milliseconds to send the last spans when the process ends. */
const shutdownMs = 2_000;

/** Minimum milliseconds between two log lines about spans that cannot be sent. */
const logIntervalMs = 60_000;

/** Maximum characters of an attribute's value, except messages, because clients choose model names of any length. */
const maxValueLength = 256;

const kinds: Readonly<Record<SpanKind, Kinds>> = {
  server: Kinds.SERVER,
  client: Kinds.CLIENT,
  producer: Kinds.PRODUCER,
  consumer: Kinds.CONSUMER,
  internal: Kinds.INTERNAL,
};

/**
 * Starts tracing with OpenTelemetry. Spans are sent by OTLP over HTTP to the collector that OpenTelemetry's variables name. Contexts are
 * passed explicitly, so no library is patched and no async context is kept.
 * @throws ConfigError for an unknown sampler
 */
export function startOpenTelemetry({ service, instance, environment, log }: TracingOptions): Tracing {
  logSendErrors(log);
  const resource = resourceFromAttributes({
    'service.name': `rtr-${service}`,
    'service.namespace': 'model-router',
    'service.version': version,
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
  const waiting = new WaitingMessages({ bytes: maxWaitingMessageBytes, spans: maxQueued });
  const processor = new BatchSpanProcessor({
    exporter: waiting.wrapExporter(new OTLPTraceExporter()),
    scheduledDelayMillis: sendIntervalMs,
    maxQueueSize: maxQueued,
  });
  const provider = new TracerProvider({
    resource,
    sampler: createSampler(environment),
    // `toSpanAttributes` has cut all values except messages.
    spanLimits: { attributeValueLengthLimit: maxMessageBytes },
    spanProcessors: [waiting.createCountingProcessor(), processor],
  });
  const parts: TelemetryParts = { tracer: provider.getTracer('model-router', version), waiting };
  log.info('tracing is enabled');
  return {
    begin: (name, kind, parent, options) => startSpan(parts, toContext(parent), name, kind, options),
    close: () => Promise.race([provider.shutdown(), sleep(shutdownMs, undefined, { ref: false })]),
  };
}

interface TelemetryParts {
  tracer: Tracer;
  waiting: WaitingMessages;
}

function startSpan(
  parts: TelemetryParts,
  parent: Context,
  name: string,
  kind: SpanKind,
  { attributes, startedAt }: SpanOptions = {},
): TraceSpan {
  const span = parts.tracer.startSpan(
    name,
    {
      kind: kinds[kind],
      attributes: toSpanAttributes(attributes),
      ...(startedAt === undefined ? {} : { startTime: startedAt }),
    },
    parent,
  );
  const spanContext = span.spanContext();
  let pendingMessages: Parameters<TraceSpan['setMessages']> | undefined;
  return {
    traceId: spanContext.traceId,
    context: toTraceContext(spanContext),
    isSampled: span.isRecording(),
    child: (childName, childKind, options) =>
      startSpan(parts, trace.setSpan(ROOT_CONTEXT, span), childName, childKind, options),
    rename: (newName) => void span.updateName(newName),
    set: (attributesToSet) => void span.setAttributes(toSpanAttributes(attributesToSet)),
    setMessages: (messages, onOutcome) => {
      if (span.isRecording()) pendingMessages = [messages, onOutcome];
      else onOutcome('late');
    },
    fail: (code) => markFailed(span, code),
    end: (at) => {
      if (pendingMessages) {
        const [messages, onOutcome] = pendingMessages;
        // The messages are added right before the span enters the queue. If they were added earlier, another span could take the last place
        // in the queue.
        onOutcome(parts.waiting.add(span, messages) ? 'queued' : 'full');
        pendingMessages = undefined;
      }
      span.end(at);
    },
  };
}

function markFailed(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function toSpanAttributes(attributes: SpanAttributes = {}) {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, cutValue(value)]])),
  );
}

function cutValue(value: NonNullable<SpanAttributes[string]>): NonNullable<SpanAttributes[string]> {
  if (typeof value === 'string') return value.slice(0, maxValueLength);
  return Array.isArray(value) ? value.map((each) => each.slice(0, maxValueLength)) : value;
}

function toTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate ? { tracestate } : {}),
  };
}

function toContext(parent: TraceContext | undefined): Context {
  const parsed = parent && parseTraceParent(parent.traceparent);
  if (!parsed) return ROOT_CONTEXT;
  const { tracestate } = parent;
  const traceState = tracestate === undefined ? undefined : new TraceState(tracestate);
  return trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true, ...(traceState ? { traceState } : {}) });
}

/** Logs that spans cannot be sent, at most once per minute. */
function logSendErrors(log: TracingOptions['log']): void {
  let loggedAt = -Infinity;
  setGlobalErrorHandler((error) => {
    const now = performance.now();
    if (now - loggedAt < logIntervalMs) return;
    loggedAt = now;
    log.warn({ err: error }, 'traces cannot be sent');
  });
}
