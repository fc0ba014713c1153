import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { ConfigError, type Environment } from '../load-config.ts';

/**
 * Creates the sampler named by `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` (OpenTelemetry, "General SDK Configuration"). The
 * default follows the client's decision and samples every trace that starts here.
 * @throws ConfigError for an unknown sampler or a ratio outside 0 to 1
 */
export function createSampler(environment: Environment): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const readRatio = (): number => {
    const ratio = environment['OTEL_TRACES_SAMPLER_ARG'] || '1';
    const value = Number(ratio);
    if (!(value >= 0 && value <= 1))
      throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG=${ratio} is not a number from 0 to 1`);
    return value;
  };
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(readRatio());
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(readRatio()) });
    default:
      throw new ConfigError(`OTEL_TRACES_SAMPLER=${name} is not a known sampler`);
  }
}
