import { useEffect, useRef } from 'react';
import type { Turn } from '../../formats/conversation.ts';
import { readRecord } from './read-record.ts';
import { unrecorded, withRecord } from './recorded-answers.ts';

/** Adds the cost of each answer, which is read from the ledger when the answer has ended. */
export function useRecords(
  turns: readonly Turn[],
  setTurns: (change: (turns: readonly Turn[]) => readonly Turn[]) => void,
): void {
  const requestedIds = useRef(new Set<string>());
  const life = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    life.current = controller;
    return () => controller.abort();
  }, []);
  useEffect(() => {
    for (const id of unrecorded(turns)) {
      if (requestedIds.current.has(id) || !life.current) continue;
      requestedIds.current.add(id);
      const { signal } = life.current;
      readRecord(id, signal).then(
        (record) => {
          if (record) setTurns((now) => withRecord(now, id, record));
        },
        (error: unknown) => {
          if (!signal.aborted) throw error;
        },
      );
    }
  }, [turns, setTurns]);
}
