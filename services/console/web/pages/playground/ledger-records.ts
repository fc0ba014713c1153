import type { AnswerFacts, Turn } from '../../formats/conversation.ts';

/** The facts of a finished answer that its stream contained. */
export type FinishedAnswer = AnswerFacts & { requestId: string };

/** Adds the ledger's record of a request to the request's answer. Facts from the answer's stream take precedence over the record. */
export function addLedgerRecord(turns: readonly Turn[], requestId: string, record: AnswerFacts): readonly Turn[] {
  return turns.map((turn) =>
    turn.role === 'assistant' && turn.served.requestId === requestId
      ? { ...turn, served: { ...record, ...turn.served } }
      : turn,
  );
}

/** Returns the facts of the finished answers that have no ledger record yet. */
export function findAnswersWithoutRecord(turns: readonly Turn[]): FinishedAnswer[] {
  return turns.flatMap((turn) => {
    if (turn.role === 'user' || turn.state === 'waiting' || turn.state === 'streaming') return [];
    const { requestId, cost } = turn.served;
    return requestId === undefined || cost !== undefined ? [] : [{ ...turn.served, requestId }];
  });
}
