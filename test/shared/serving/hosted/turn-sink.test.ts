import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { TurnSink } from '#shared/serving/hosted/turn-sink.ts';
import { modelSink } from '../../../helpers/serving/serving-parts.ts';

it('a turn that cannot be relayed ends with the reason, not with the failure of its job', () => {
  const relay = (): string => {
    throw new RouterError('upstream_failed', 'The upstream failed in the middle of its answer.');
  };
  const counted = { tokens: 0, relayed: (piece: Uint8Array) => piece };
  const turn = new TurnSink({ sink: modelSink(), stream: true, isFirst: false, relay, counted });
  expect(() => turn.data(Buffer.from('x'))).toThrow('in the middle');
  // The dispatcher does this with a job whose sink has thrown.
  turn.fail(new RouterError('internal', 'The router failed.'));
  expect(turn.ending).toMatchObject({ code: 'upstream_failed' });
});
