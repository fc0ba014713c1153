import { describe, expect, it } from 'vitest';
import { decideAfterError } from '#services/batch-runner/lines/decide-after-error.ts';
import { PreemptedError } from '#services/batch-runner/slots/line-slots.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';

const error = (code: ErrorCode, more = {}) => new RouterError(code, 'no', more);

describe('a line whose request failed', () => {
  it.each(['no_worker_available', 'overloaded', 'queue_timeout', 'store_unavailable', 'rate_limit_exceeded'] as const)(
    'is executed again after %s, which passes and does not count as an execution',
    (code) => {
      const again = { kind: 'again', afterMs: 3_000, counts: false };
      expect(decideAfterError(error(code, { retryAfter: 3 }))).toEqual(again);
    },
  );

  it.each(['upstream_failed', 'worker_lost', 'internal'] as const)('counts an execution after %s', (code) => {
    expect(decideAfterError(error(code))).toMatchObject({ kind: 'again', counts: true });
  });

  it.each(['invalid_request', 'context_length_exceeded', 'workers_died', 'request_exceeds_limit'] as const)(
    'ends after %s',
    (code) => expect(decideAfterError(error(code))).toEqual({ kind: 'final' }),
  );

  it('is executed again at once after it was preempted', () => {
    expect(decideAfterError(new PreemptedError())).toEqual({ kind: 'again', afterMs: 0, counts: false });
  });

  it('waits with its whole batch when a budget is used up', () => {
    expect(decideAfterError(error('insufficient_quota', { retryAfter: 60 }))).toEqual({ kind: 'pause', ms: 60_000 });
  });

  it('waits for a model that is known to exist', () => {
    expect(decideAfterError(error('model_not_found'), true)).toMatchObject({ kind: 'again', counts: false });
    expect(decideAfterError(error('model_not_found'))).toEqual({ kind: 'final' });
  });

  it('ends if one of its tools may have changed something, whatever the error', () => {
    expect(decideAfterError(new PreemptedError().withEffects())).toEqual({ kind: 'final' });
  });
});
