import { describe, expect, it } from 'vitest';
import { nextState, type JobEvent, type JobState } from '#shared/broker/dispatch/job-state.ts';

const allowed: [JobState, JobEvent, JobState][] = [
  ['queued', 'claim', 'claimed'],
  ['queued', 'fail', 'failed'],
  ['queued', 'cancel', 'cancelled'],
  ['claimed', 'output', 'streaming'],
  ['claimed', 'lose', 'queued'],
  ['claimed', 'end', 'done'],
  ['claimed', 'fail', 'failed'],
  ['claimed', 'cancel', 'cancelled'],
  ['streaming', 'lose', 'queued'],
  ['streaming', 'end', 'done'],
  ['streaming', 'fail', 'failed'],
  ['streaming', 'cancel', 'cancelled'],
];
const states: JobState[] = ['queued', 'claimed', 'streaming', 'done', 'failed', 'cancelled'];
const events: JobEvent[] = ['claim', 'output', 'lose', 'end', 'fail', 'cancel'];

describe("a job's states", () => {
  it.each(allowed)('%s, %s: %s', (from, event, to) => {
    expect(nextState(from, event)).toBe(to);
  });

  it('allow no other transition: an ended job stays ended', () => {
    for (const from of states) {
      for (const event of events) {
        if (allowed.some(([state, known]) => state === from && known === event)) continue;
        expect(() => nextState(from, event)).toThrow(`a ${from} job cannot ${event}`);
      }
    }
  });
});
