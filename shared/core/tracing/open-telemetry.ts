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
import type { TracingOptions } from './open-tracing.ts';
import { samplerOf } from './sampler.ts';
import type { SpanAttributes, SpanKind, SpanOptions, TraceContext, TraceSpan, Tracing } from './tracing.ts';

/** Milliseconds that a span waits to be sent with others. */
const sendEveryMs = 1_000;

/** Spans that wait to be sent; while the collector is away, further ones are dropped. */
const mostWaiting = 4_096;

/** Milliseconds for the last spans when the process ends. */
const lastSpansMs = 2_000;

/** Milliseconds between two log lines about a collector that does not take spans. */
const quietMs = 60_000;

/** Characters of an attribute's value that are kept: a model's name may be as long as a client likes. */
const longestValue = 256;

const kinds: Readonly<Record<SpanKind, Kinds>> = {
  server: Kinds.SERVER,
  client: Kinds.CLIENT,
  producer: Kinds.PRODUCER,
  consumer: Kinds.CONSUMER,
  internal: Kinds.INTERNAL,
};

/**
 * Traces with OpenTelemetry, sent by OTLP over HTTP to where its variables say. Contexts are handed on from span to span, never
 * looked up: nothing is patched, and no async context is kept.
 * @throws ConfigError for a sampler that is not known
 */
export function startOpenTelemetry({ service, instance, environment, log }: TracingOptions): Tracing {
  reportTrouble(log);
  const resource = resourceFromAttributes({
    'service.name': `rtr-${service}`,
    'service.namespace': 'model-router',
    'service.version': version,
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    scheduledDelayMillis: sendEveryMs,
    maxQueueSize: mostWaiting,
  });
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(environment),
    spanLimits: { attributeValueLengthLimit: longestValue },
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('model-router', version);
  log.info('requests are traced');
  return {
    begin: (name, kind, parent, options) => startSpan(tracer, contextOf(parent), name, kind, options),
    close: () => Promise.race([provider.shutdown(), sleep(lastSpansMs, undefined, { ref: false })]),
  };
}

function startSpan(
  tracer: Tracer,
  parent: Context,
  name: string,
  kind: SpanKind,
  { attributes, startedAt }: SpanOptions = {},
): TraceSpan {
  const span = tracer.startSpan(
    name,
    { kind: kinds[kind], attributes: known(attributes), ...(startedAt === undefined ? {} : { startTime: startedAt }) },
    parent,
  );
  const own = span.spanContext();
  return {
    traceId: own.traceId,
    context: carried(own),
    child: (childName, childKind, options) =>
      startSpan(tracer, trace.setSpan(ROOT_CONTEXT, span), childName, childKind, options),
    rename: (newName) => void span.updateName(newName),
    set: (more) => void span.setAttributes(known(more)),
    fail: (code) => fail(span, code),
    end: (at) => span.end(at),
  };
}

function fail(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function known(attributes: SpanAttributes = {}) {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function carried({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate ? { tracestate } : {}),
  };
}

function contextOf(parent: TraceContext | undefined): Context {
  const given = parent && parseTraceParent(parent.traceparent);
  if (!given) return ROOT_CONTEXT;
  const { tracestate } = parent;
  const traceState = tracestate === undefined ? undefined : new TraceState(tracestate);
  return trace.setSpanContext(ROOT_CONTEXT, { ...given, isRemote: true, ...(traceState ? { traceState } : {}) });
}

/** A collector that is away costs spans and a line a minute, and nothing else. */
function reportTrouble(log: TracingOptions['log']): void {
  let toldAt = -Infinity;
  setGlobalErrorHandler((error) => {
    const now = performance.now();
    if (now - toldAt < quietMs) return;
    toldAt = now;
    log.warn({ err: error }, 'traces cannot be sent');
  });
}
