import { Button } from '@mantine/core';
import { memo } from 'react';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { formatAgo, formatExact } from '../../parts/format.ts';
import { TierMark } from '../../parts/tier-mark.tsx';

/*
 * The cells of the list of workers. Parts of the list render again each second. To keep this cheap, cells of unchanged workers are
 * memoized, and the other cells consist of plain elements.
 */

export const TierCell = memo(TierMark);

export const NameCell = memo(function NameCell({ worker: { id, host, pool } }: { worker: LiveWorkerFacts }) {
  return (
    <>
      <div className="worker-name break">{id}</div>
      <div className="cell-note break">{host === undefined ? pool : `${host} · ${pool}`}</div>
    </>
  );
});

const maxShownNames = 3;

export const ServesCell = memo(function ServesCell({ worker: { models, tools } }: { worker: LiveWorkerFacts }) {
  const names = models.length > 0 ? models : tools;
  if (names.length === 0) return 'nothing yet';
  const hiddenCount = names.length - maxShownNames;
  return (
    <div className="break" title={names.join(', ')}>
      {names.slice(0, maxShownNames).join(', ')}
      {hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}
    </div>
  );
});

export function JoinedCell({ worker: { joinedAt, startedAt } }: { worker: LiveWorkerFacts }) {
  return (
    <span title={`Joined ${formatExact(joinedAt)}, started ${formatExact(startedAt)}`}>{formatAgo(joinedAt)}</span>
  );
}

export function SlotBar({ busy, slots }: Pick<LiveWorkerFacts, 'busy' | 'slots'>) {
  return (
    <span className="numeric" style={{ whiteSpace: 'nowrap' }}>
      <span className="slots" aria-hidden="true">
        <span style={{ width: `${slots === 0 ? 0 : (busy / slots) * 100}%` }} />
      </span>{' '}
      {busy} of {slots}
    </span>
  );
}

export interface DrainButtonProps {
  id: string;
  isDraining: boolean;
  isLoading: boolean;
  onToggleDrain: (id: string) => void;
}

export const DrainButton = memo(function DrainButton({ id, isDraining, isLoading, onToggleDrain }: DrainButtonProps) {
  const word = isDraining ? 'Undrain' : 'Drain';
  return (
    <Button
      size="xs"
      variant="default"
      loading={isLoading}
      aria-label={`${word} ${id}`}
      onClick={() => onToggleDrain(id)}
    >
      {word}
    </Button>
  );
});
