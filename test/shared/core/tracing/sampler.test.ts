import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import type { Environment } from '#shared/core/load-config.ts';
import { createSampler } from '#shared/core/tracing/sampler.ts';

/** Whether a request is traced, given its client's decision. */
function decide(
  environment: Environment,
  parent: 'sampled' | 'not sampled' | 'none',
  traceId = 'f'.repeat(32),
): boolean {
  const traceFlags = parent === 'sampled' ? 1 : 0;
  const given = { traceId, spanId: '1'.repeat(16), traceFlags, isRemote: true };
  const context = parent === 'none' ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, given);
  const { decision } = createSampler(environment).shouldSample(context, traceId, 'a', SpanKind.SERVER, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

describe('sampling', () => {
  it("follows the client's decision by default, and samples every trace that starts here", () => {
    expect([decide({}, 'sampled'), decide({}, 'not sampled'), decide({}, 'none')]).toEqual([true, false, true]);
  });

  it('can sample a share of the traces that start here', () => {
    const environment = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
    expect(decide(environment, 'none', '0'.repeat(31) + '1')).toBe(true);
    expect(decide(environment, 'none', 'f'.repeat(8) + '0'.repeat(24))).toBe(false);
    expect(decide(environment, 'sampled')).toBe(true);
  });

  it("can override the client's decision", () => {
    expect(decide({ OTEL_TRACES_SAMPLER: 'always_off' }, 'sampled')).toBe(false);
    expect(decide({ OTEL_TRACES_SAMPLER: 'always_on' }, 'not sampled')).toBe(true);
  });

  it('with an invalid setting is refused', () => {
    expect(() => createSampler({ OTEL_TRACES_SAMPLER: 'sometimes' })).toThrow('OTEL_TRACES_SAMPLER=sometimes');
    const half = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'half' };
    expect(() => createSampler(half)).toThrow('OTEL_TRACES_SAMPLER_ARG=half');
  });
});
