import type { Served, Turn } from '../../formats/conversation.ts';

/** The conversation with what the ledger holds of one request. What its stream said stays. */
export function withRecord(turns: readonly Turn[], requestId: string, record: Served): readonly Turn[] {
  return turns.map((turn) =>
    turn.role === 'assistant' && turn.served.requestId === requestId
      ? { ...turn, served: { ...record, ...turn.served } }
      : turn,
  );
}

/** The ids of the answers that are over, and of which the ledger was not read yet. */
export function unrecorded(turns: readonly Turn[]): string[] {
  return turns.flatMap((turn) => {
    if (turn.role === 'user' || turn.state === 'waiting' || turn.state === 'streaming') return [];
    const { requestId, cost } = turn.served;
    return requestId === undefined || cost !== undefined ? [] : [requestId];
  });
}
