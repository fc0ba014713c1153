import type {
  Failure,
  LiveWorkerFacts,
  Overview,
  QueuedLane,
  RefusalCounts,
  WorkersChange,
} from '../../contract/live.ts';
import { apiBase } from './call-api.ts';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { reuseUnchanged, applyWorkersChange } from './live-workers.ts';

/** The last event of each kind from the live feed. */
export interface LiveState {
  /** `lost`: the connection failed and is being retried. */
  connection: 'connecting' | 'live' | 'lost';
  overview?: Overview;
  workers?: LiveWorkerFacts[];
  queue?: QueuedLane[];
  failures?: Failure[];
  refused?: RefusalCounts[];
}

const retryMs = 2_000;

/** Milliseconds after which a hidden page disconnects, because browsers allow only a few connections to one host. */
const hiddenMs = 5_000;

/** This page's connection to the live feed, shared by all components. */
export class LiveStore {
  #state: LiveState = { connection: 'connecting' };
  #eventSource: EventSource | undefined;
  #timer: number | undefined;
  readonly #listeners = new Set<() => void>();

  readonly getState = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Connects, and reconnects whenever the connection is lost, until the returned function is called. */
  readonly run = (): (() => void) => {
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.connect();
    return () => {
      document.removeEventListener('visibilitychange', this.#onVisibility);
      this.#disconnect();
      this.#state = { connection: 'connecting' };
    };
  };

  readonly #onVisibility = (): void => {
    window.clearTimeout(this.#timer);
    if (!document.hidden) this.connect();
    else this.#timer = window.setTimeout(() => this.#disconnect(), hiddenMs);
  };

  /** Connects unless the page is connected already. The connection stays until the function that `run` returns is called. */
  connect(): void {
    window.clearTimeout(this.#timer);
    if (this.#eventSource && this.#eventSource.readyState !== EventSource.CLOSED) return;
    const source = new EventSource(`${apiBase}/live?changes`);
    this.#eventSource = source;
    source.addEventListener('open', () => this.#change({ connection: 'live' }));
    source.addEventListener('overview', ({ data }) => this.#change({ overview: JSON.parse(data) as Overview }));
    source.addEventListener('workers', ({ data }) =>
      this.#change({ workers: reuseUnchanged(this.#state.workers, JSON.parse(data) as LiveWorkerFacts[]) }),
    );
    source.addEventListener('workers-changed', ({ data }) =>
      this.#change({ workers: applyWorkersChange(this.#state.workers ?? [], JSON.parse(data) as WorkersChange) }),
    );
    source.addEventListener('queue', ({ data }) => this.#change({ queue: JSON.parse(data) as QueuedLane[] }));
    source.addEventListener('failures', ({ data }) => this.#change({ failures: JSON.parse(data) as Failure[] }));
    source.addEventListener('refused', ({ data }) => this.#change({ refused: JSON.parse(data) as RefusalCounts[] }));
    source.addEventListener('error', () => {
      this.#change({ connection: 'lost' });
      // The browser retries a broken connection by itself, but not a refused connection.
      if (source.readyState !== EventSource.CLOSED) return;
      window.clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.connect(), retryMs);
    });
  }

  #disconnect(): void {
    window.clearTimeout(this.#timer);
    this.#eventSource?.close();
    this.#eventSource = undefined;
  }

  #change(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

export const liveStore = new LiveStore();

export const LiveContext = createContext(liveStore);

/** Returns the live state of the cluster. Renders the component again on every event. */
export function useLive(): LiveState {
  const store = useContext(LiveContext);
  return useSyncExternalStore(store.subscribe, store.getState);
}
