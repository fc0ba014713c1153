import { useEffect, useRef } from 'react';
import type { Turn } from '../../formats/conversation.ts';
import { readLedgerRecord } from './read-ledger-record.ts';
import { findIdsWithoutRecord, addLedgerRecord } from './ledger-records.ts';

/** Adds to each answer that has ended its cost and tokens, which are read from the ledger. */
export function useLedgerRecords(
  turns: readonly Turn[],
  setTurns: (change: (turns: readonly Turn[]) => readonly Turn[]) => void,
): void {
  const requestedIds = useRef(new Set<string>());
  const lifetime = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    lifetime.current = controller;
    return () => controller.abort();
  }, []);
  useEffect(() => {
    for (const id of findIdsWithoutRecord(turns)) {
      if (requestedIds.current.has(id) || !lifetime.current) continue;
      requestedIds.current.add(id);
      const { signal } = lifetime.current;
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
