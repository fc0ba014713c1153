import { expect, it } from 'vitest';
import { detectPurpose } from '#services/ingress/routing/purpose/detect-purpose.ts';
import { purposeOf, recordedRequests } from '../../../../helpers/clients/recorded-requests.ts';

const recorded = recordedRequests('opencode');

it.each([
  ['a turn', 'main'],
  ['a turn in messages', 'main'],
  ['a title', 'auxiliary'],
  ['a title in messages', 'auxiliary'],
  ['a turn in responses', 'main'],
  ['a title in responses', 'auxiliary'],
  ['a turn of an agent', 'subagent'],
  ['a compaction', 'compaction'],
])('a request of opencode %s is known as %s', (name, purpose) => {
  expect(purposeOf(recorded.get(name)).purpose).toBe(purpose);
});

it('a request of opencode names the session, and for a session with a parent the agent in it', () => {
  const turn = (name: string) => detectPurpose(recorded.get(name)?.headers ?? {}, undefined).turn;
  const session = turn('a turn')?.session;
  expect(turn('a turn')).toEqual({ program: 'opencode', session: expect.stringMatching(/^ses_/) });
  expect(turn('a title')).toEqual(turn('a turn'));
  const agent = 'ses_df35b86d7ffe705yq5fMV8WJ5K';
  expect(turn('a turn of an agent')).toEqual({ program: 'opencode', session, agent });
});
