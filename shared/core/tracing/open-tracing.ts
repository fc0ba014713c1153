import type { Environment } from '../load-config.ts';
import type { Logger } from '../log.ts';
import type { Tracing } from './tracing.ts';

export interface TracingOptions {
  /** The part, as its log lines name it. */
  service: string;
  /** Which of several like it. */
  instance: string;
  environment: Environment;
  log: Pick<Logger, 'warn' | 'info'>;
}

/**
 * Turns tracing on when the environment says where traces go, by OpenTelemetry's own variables: `OTEL_EXPORTER_OTLP_ENDPOINT` or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, unless `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`
 * (OpenTelemetry, "Environment Variable Specification"). Otherwise nothing of OpenTelemetry is even loaded.
 * @throws ConfigError for a sampler that is not known
 */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { environment } = options;
  const endpoint = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const isOff = environment['OTEL_SDK_DISABLED'] === 'true' || environment['OTEL_TRACES_EXPORTER'] === 'none';
  if (!endpoint || isOff) return undefined;
  const { startOpenTelemetry } = await import('./open-telemetry.ts');
  return startOpenTelemetry(options);
}
