import { useEffect, useRef } from 'react';
import type { UsageRequest } from '../../../contract/usage.ts';
import { ApiFailure, callApi } from '../../api/call-api.ts';
import type { AnswerFacts, Turn } from '../../formats/conversation.ts';
import { addLedgerRecord, findAnswersWithoutRecord, type FinishedAnswer } from './ledger-records.ts';

/** Milliseconds before each read of the ledger, which records a request about a second after its end. */
const waitsMs = [1_200, 1_500, 3_000, 6_000];

/** Reads the cost and tokens of each finished answer from the ledger, and adds them to the answer. */
export function useLedgerRecords(
  turns: readonly Turn[],
  setTurns: (change: (turns: readonly Turn[]) => readonly Turn[]) => void,
): void {
  const requestedIds = useRef(new Set<string>());
  // The answer of a record may be in a conversation that is shown again later.
  const records = useRef(new Map<string, AnswerFacts>());
  const lifetimeController = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    lifetimeController.current = controller;
    return () => controller.abort();
  }, []);
  useEffect(() => {
    const add = (id: string): void => {
      const record = records.current.get(id);
      if (record) setTurns((currentTurns) => addLedgerRecord(currentTurns, id, record));
    };
    for (const answer of findAnswersWithoutRecord(turns)) {
      const { requestId } = answer;
      add(requestId);
      if (requestedIds.current.has(requestId) || !lifetimeController.current) continue;
      requestedIds.current.add(requestId);
      const { signal } = lifetimeController.current;
      readLedgerRecord(answer, signal).then(
        (record) => {
          if (record) records.current.set(requestId, record);
          add(requestId);
        },
        (error: unknown) => {
          if (!signal.aborted) throw error;
        },
      );
    }
  }, [turns, setTurns]);
}

/**
 * Reads the ledger's records of an answer until all of its turns are recorded: until they have the tokens that the stream contained, or a
 * read finds no further record. Returns undefined if none of four reads finds a record that this person may see. The ledger has no record
 * of a request that reached no worker.
 * @throws DOMException when `signal` is aborted
 */
async function readLedgerRecord(
  { requestId, completionTokens = Infinity }: FinishedAnswer,
  signal: AbortSignal,
): Promise<AnswerFacts | undefined> {
  let records: readonly UsageRequest[] = [];
  for (const waitMs of waitsMs) {
    await wait(waitMs, signal);
    const { length } = records;
    records = await readRecords(requestId, signal);
    const hasAll = records.length === length || sum(records, 'completionTokens') >= completionTokens;
    if (records.length > 0 && hasAll) break;
  }
  if (records.length === 0) return undefined;
  return {
    cost: sum(records, 'cost'),
    promptTokens: sum(records, 'promptTokens'),
    completionTokens: sum(records, 'completionTokens'),
  };
}

/** Reads the records of a request. A request with several turns, such as a request that used hosted tools, has several records. */
async function readRecords(requestId: string, signal: AbortSignal): Promise<readonly UsageRequest[]> {
  try {
    return await callApi<UsageRequest[]>('GET', `/usage/requests/${encodeURIComponent(requestId)}`, undefined, signal);
  } catch (error) {
    // If no read succeeds, the answer is shown without its cost.
    if (error instanceof ApiFailure) return [];
    throw error;
  }
}

function sum(records: readonly UsageRequest[], field: 'cost' | 'promptTokens' | 'completionTokens'): number {
  return records.reduce((total, record) => total + record[field], 0);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      window.clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = window.setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
