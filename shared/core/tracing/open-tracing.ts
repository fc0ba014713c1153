import type { Tracing, TracingOptions } from './tracing.ts';

/**
 * Enables tracing if the environment names a collector by OpenTelemetry's own variables, `OTEL_EXPORTER_OTLP_ENDPOINT` or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, unless `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none` (OpenTelemetry,
 * "Environment Variable Specification"). Otherwise returns undefined and loads no OpenTelemetry code.
 * @throws ConfigError for an unknown sampler
 */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { environment } = options;
  const endpoint = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const isOff = environment['OTEL_SDK_DISABLED'] === 'true' || environment['OTEL_TRACES_EXPORTER'] === 'none';
  if (!endpoint || isOff) return undefined;
  const { startOpenTelemetry } = await import('./open-telemetry.ts');
  return startOpenTelemetry(options);
}
