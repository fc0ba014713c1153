import { expect, it } from 'vitest';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import { AnswerJournal } from '../../../../services/ingress/idempotency/answer-journal.ts';

const of = { owner: 'owner', id: 'id', attempt: 'ia_1' };
const head = { status: 200, headers: {}, requestId: 'r', isEvents: false };

/** Opens a journal whose first write Redis answers on demand. */
function start(journalBudget = new StoreQueueBudget(1_000), owner = 'owner') {
  const written: string[] = [];
  const { promise, resolve } = Promise.withResolvers<'kept'>();
  const journal = new AnswerJournal(
    { ...of, owner },
    {
      answers: {
        answerBytes: 1_000,
        append: () => promise,
        finish: async (_, { bytes }, kind) => void written.push(`${kind} ${Buffer.from(bytes ?? []).toString()}`),
      },
      journalBudget,
      log: { warn: () => undefined },
    },
  );
  return { journal, written, answer: () => resolve('kept') };
}

it('the journal of an answer is written to its end, however soon the end follows the answer to the previous write', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const { journal, written, answer } = start();
    journal.writeHead(head, undefined);
    answer();
    // Turns of the microtask queue.
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    journal.add(Buffer.from('all'), 0);
    await journal.finish('whole', false);
    expect(written, String(turns)).toEqual(['whole all']);
  }
});

it('the answers of one owner that wait to be written take half of the memory that those of others leave', async () => {
  const budget = new StoreQueueBudget(1_000);
  const journals = Array.from({ length: 10 }, () => start(budget));
  for (const { journal } of journals) journal.add(Buffer.alloc(100), 0);
  expect(budget.taken).toBe(500);
  start(budget, 'other').journal.add(Buffer.alloc(400), 0);
  expect(budget.taken).toBe(900);
  for (const { journal } of journals) journal.stop();
  expect(budget.taken).toBe(400);
});
