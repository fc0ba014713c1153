import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { formatAgo } from '../../parts/format.ts';
import { findShownState, type ShownState } from './find-workers.ts';
import './workers.css';

export const stateLabels: Record<ShownState, { word: string; sentence: string }> = {
  serving: { word: 'Serving', sentence: 'gets requests' },
  full: { word: 'Full', sentence: 'all its slots are busy' },
  paused: { word: 'Paused', sentence: 'gets no requests: its upstream limits the rate' },
  failing: { word: 'Failing', sentence: 'gets no requests, or one at a time: its upstream fails' },
  ejected: {
    word: 'Ejected',
    sentence: 'gets one request now and then: earlier requests failed or were slow here, but not on its peers',
  },
  draining: { word: 'Draining', sentence: 'finishes its requests and gets no new ones' },
  drained: {
    word: 'Drained, safe to stop',
    sentence: 'has no request left and gets no new ones: its machine can be stopped',
  },
  incompatible: { word: 'Incompatible', sentence: 'gets no requests: its release is too far from the router’s' },
};

/**
 * Shows a worker's state with its reason, and warnings before the worker is stopped. The cell consists of plain elements, because it
 * renders again each second.
 */
export function WorkerStateCell({ worker }: { worker: LiveWorkerFacts }) {
  const { reason, missedHeartbeats, busy, lastFor, ejection } = worker;
  const state = findShownState(worker);
  const { word, sentence } = stateLabels[state];
  return (
    <>
      <span className="state" title={sentence}>
        <span className={`state-dot state-${state}`} aria-hidden="true" />
        {word}
      </span>
      {lastFor ? (
        <span className="last-for" title={`No other worker takes requests for ${lastFor.join(', ')}.`}>
          {describeLastFor(worker, lastFor)}
        </span>
      ) : null}
      {state === 'draining' ? (
        <div className="cell-note">{busy === 1 ? '1 request left' : `${busy} requests left`}</div>
      ) : null}
      {reason === undefined ? null : <div className="cell-note break">{reason}</div>}
      {ejection ? <div className="cell-note break">{describeEjection(ejection)}</div> : null}
      {missedHeartbeats > 0 ? <div className="silent-note">silent for {missedHeartbeats} s</div> : null}
    </>
  );
}

/** Describes what no other worker serves, for example `the last for 2 models`. */
function describeLastFor({ models }: LiveWorkerFacts, lastFor: readonly string[]): string {
  const servedCount = lastFor.filter((name) => models.includes(name)).length;
  const parts = [
    ...(servedCount > 0 ? [servedCount === 1 ? 'a model' : `${servedCount} models`] : []),
    ...(servedCount < lastFor.length
      ? [lastFor.length - servedCount === 1 ? 'a tool' : `${lastFor.length - servedCount} tools`]
      : []),
  ];
  return `the last for ${parts.join(' and ')}`;
}

function describeEjection({ model, reason, at, endedAt }: NonNullable<LiveWorkerFacts['ejection']>): string {
  if (endedAt === undefined) return `ejected with ${model} ${formatAgo(at)}`;
  return `was ejected with ${model} ${formatAgo(at)} (${reason}), back ${formatAgo(endedAt)}`;
}
