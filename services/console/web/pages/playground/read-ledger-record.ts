import type { UsageRequest } from '../../../contract/usage.ts';
import { ApiFailure, callApi } from '../../api/call-api.ts';
import type { AnswerFacts } from '../../formats/conversation.ts';

/** Milliseconds before each read of the ledger, which records a request about a second after its end. */
const waitsMs = [1_200, 1_500, 3_000, 6_000];

/**
 * Reads the ledger's record of a request. Returns undefined if none of four reads finds a record that this person may see. The ledger
 * has no record of a request that reached no worker.
 * @throws DOMException when `signal` is aborted
 */
export async function readLedgerRecord(requestId: string, signal: AbortSignal): Promise<AnswerFacts | undefined> {
  for (const waitMs of waitsMs) {
    await wait(waitMs, signal);
    try {
      const path = `/usage/requests/${encodeURIComponent(requestId)}`;
      return sumRecords(await callApi<UsageRequest[]>('GET', path, undefined, signal));
    } catch (error) {
      // If no read succeeds, the answer is shown without its cost.
      if (!(error instanceof ApiFailure)) throw error;
    }
  }
  return undefined;
}

/** Adds up the records of a request. A request with several turns, such as a request that used hosted tools, has several records. */
function sumRecords(records: readonly UsageRequest[]): AnswerFacts {
  const sum = (readNumber: (record: UsageRequest) => number): number =>
    records.reduce((total, record) => total + readNumber(record), 0);
  return {
    cost: sum(({ cost }) => cost),
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
