import { useEffect, useRef } from 'react';
import type { Turn } from '../../formats/conversation.ts';
import { readLedgerRecord } from './read-ledger-record.ts';
import { findIdsWithoutRecord, addLedgerRecord } from './ledger-records.ts';

/** Reads the cost and tokens of each finished answer from the ledger, and adds them to the answer. */
export function useLedgerRecords(
  turns: readonly Turn[],
  setTurns: (change: (turns: readonly Turn[]) => readonly Turn[]) => void,
): void {
  const requestedIds = useRef(new Set<string>());
  const lifetimeController = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    lifetimeController.current = controller;
    return () => controller.abort();
  }, []);
  useEffect(() => {
    for (const id of findIdsWithoutRecord(turns)) {
      if (requestedIds.current.has(id) || !lifetimeController.current) continue;
      requestedIds.current.add(id);
      const { signal } = lifetimeController.current;
      readLedgerRecord(id, signal).then(
        (record) => {
          if (record) setTurns((currentTurns) => addLedgerRecord(currentTurns, id, record));
        },
        (error: unknown) => {
          if (!signal.aborted) throw error;
        },
      );
    }
  }, [turns, setTurns]);
}
