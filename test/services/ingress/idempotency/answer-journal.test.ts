import { describe, expect, it } from 'vitest';
import { StoringRoom } from '#shared/serving/stored/storing-room.ts';
import { AnswerJournal } from '../../../../services/ingress/idempotency/answer-journal.ts';

const of = { owner: 'owner', id: 'id', attempt: 'ia_1' };
const head = { status: 200, headers: {}, requestId: 'r', isEvents: false };

/** A journal of which Redis answers the first write when it is told to. */
function start() {
  const written: string[] = [];
  const { promise, resolve } = Promise.withResolvers<'kept'>();
  const journal = new AnswerJournal(of, {
    answers: {
      answerBytes: 1_000,
      append: () => promise,
      finish: async (_, { bytes }, kind) => void written.push(`${kind} ${Buffer.from(bytes ?? []).toString()}`),
    },
    room: new StoringRoom(1_000),
    log: { warn: () => undefined },
  });
  return { journal, written, answer: () => resolve('kept') };
}

describe('the journal of an answer', () => {
  it.each(Array.from({ length: 12 }, (_, at) => at))(
    'is written to its end, which comes %i turns of the microtask queue after the answer to the write before',
    async (turns) => {
      const { journal, written, answer } = start();
      journal.begin(head, undefined);
      answer();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      journal.add(Buffer.from('all'), 0);
      await journal.finish('whole', false);
      expect(written).toEqual(['whole all']);
    },
  );
});
