import type { Failure, LiveWorkerFacts, Overview, QueuedLane } from '../../contract/live.ts';
import { apiBase } from './call-api.ts';
import { createContext, useContext, useSyncExternalStore } from 'react';

/** What the live stream has told so far. */
export interface LiveState {
  /** `live`: news come as they happen; `lost`: they do not, it is being tried again. */
  connection: 'connecting' | 'live' | 'lost';
  overview?: Overview;
  workers?: LiveWorkerFacts[];
  queue?: QueuedLane[];
  failures?: Failure[];
}

const retryMs = 2_000;

/** A page that nobody sees gives its connection back after this time: browsers allow only a few to one host. */
const hiddenMs = 5_000;

/** The one live stream of this page, shared by all that show something of it. It connects again for as long as it is wanted. */
export class LiveStore {
  #state: LiveState = { connection: 'connecting' };
  #source: EventSource | undefined;
  #timer: number | undefined;
  readonly #listeners = new Set<() => void>();

  readonly state = (): LiveState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Connects until the returned call. */
  readonly run = (): (() => void) => {
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#connect();
    return () => {
      document.removeEventListener('visibilitychange', this.#onVisibility);
      this.#disconnect();
      this.#state = { connection: 'connecting' };
    };
  };

  readonly #onVisibility = (): void => {
    window.clearTimeout(this.#timer);
    if (!document.hidden) this.#connect();
    else this.#timer = window.setTimeout(() => this.#disconnect(), hiddenMs);
  };

  #connect(): void {
    window.clearTimeout(this.#timer);
    if (this.#source && this.#source.readyState !== EventSource.CLOSED) return;
    const source = new EventSource(`${apiBase}/live`);
    this.#source = source;
    source.addEventListener('open', () => this.#change({ connection: 'live' }));
    source.addEventListener('overview', ({ data }) => this.#change({ overview: JSON.parse(data) as Overview }));
    source.addEventListener('workers', ({ data }) => this.#change({ workers: JSON.parse(data) as LiveWorkerFacts[] }));
    source.addEventListener('queue', ({ data }) => this.#change({ queue: JSON.parse(data) as QueuedLane[] }));
    source.addEventListener('failures', ({ data }) => this.#change({ failures: JSON.parse(data) as Failure[] }));
    source.addEventListener('error', () => {
      this.#change({ connection: 'lost' });
      // A refusal ends it for good, where a broken connection is tried again by the browser.
      if (source.readyState !== EventSource.CLOSED) return;
      window.clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#connect(), retryMs);
    });
  }

  #disconnect(): void {
    window.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #change(news: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...news };
    for (const listener of this.#listeners) listener();
  }
}

export const LiveContext = createContext(new LiveStore());

/** What goes on in the cluster right now; renders again with every piece of news. */
export function useLive(): LiveState {
  const store = useContext(LiveContext);
  return useSyncExternalStore(store.subscribe, store.state);
}
