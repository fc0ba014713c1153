import type { ServerResponse } from 'node:http';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { addUpOverview, addUpQueue, addUpRefusals } from './add-up-stats.ts';
import { VisibleFailures, type Viewer } from './visible-failures.ts';
import type { LiveWorkerFacts } from '../contract/live.ts';
import { listWorkerFacts } from './worker-facts.ts';
import { SentWorkers } from './sent-workers.ts';
import { eventStreamHeaders } from '#shared/formats/sse/encode.ts';

/** The kinds of events that are the same for every viewer. Events of workers are also the same, but are sent as changes. */
const sharedKinds = ['overview', 'queue'] as const;
type SharedKind = (typeof sharedKinds)[number];

/** The kinds of events that depend on the viewer. */
const viewerKinds = ['failures', 'refused'] as const;
type ViewerKind = (typeof viewerKinds)[number];

const tickMs = 1_000;

/** Milliseconds between two comments that keep proxies and browsers connected. Sign-in sessions are checked at the same times. */
const keepAliveMs = 5_000;

/** The maximum number of open streams of all people together. */
const maxStreams = 500;

/** The maximum number of open streams of one person, in all sign-in sessions together. Each visible page has one stream. */
const maxStreamsOfPerson = 24;

/** Makes a page that lost its stream connect again after a second. */
const retryField = 'retry: 1000\n\n';

export interface PageStream {
  response: ServerResponse;
  viewer: Viewer;
  /** Whether the page accepts `workers-changed`. A page loaded from an older release may not, and gets all workers after each change. */
  takesChanges: boolean;
  /** Returns the person of the sign-in session with their current role; undefined once the session has ended. */
  findCurrentViewer: () => Promise<Viewer | undefined>;
}

/**
 * Writes a stream to a page. Disconnects a page that reads too slowly, or that does not read the rest of an ended stream. A disconnected
 * page connects again.
 */
export interface StreamOutput {
  write(text: string): void;
  end(text: string): void;
}

interface Listener extends PageStream {
  output: StreamOutput;
  /** The last event of each kind that was sent to this viewer. */
  sent: Record<ViewerKind, string>;
}

/** The events of one tick, each serialized at most once for all viewers that may see it. */
interface Snapshot {
  shared: Record<SharedKind, string>;
  failures: VisibleFailures;
  /** For administrators only. */
  refused: string;
}

/**
 * Streams the state of the cluster to pages, at once and then after changes, at most once a second. Each event contains the whole state of
 * its kind. There may be thousands of workers, so later events of workers contain only the changed workers. Nothing is read while no page
 * is connected.
 */
export class LiveFeed {
  readonly #workers: LiveWorkers;
  readonly #stats: () => IngressStats[];
  readonly #openOutput: (response: ServerResponse) => StreamOutput;
  readonly #listeners = new Set<Listener>();
  readonly #sent = new Map<SharedKind, string>();
  readonly #workersSent = new SentWorkers();
  #timer: NodeJS.Timeout | undefined;
  #lastKeepAliveAt = 0;
  #isClosed = false;

  constructor(
    workers: LiveWorkers,
    stats: () => IngressStats[],
    openOutput: (response: ServerResponse) => StreamOutput,
  ) {
    this.#workers = workers;
    this.#stats = stats;
    this.#openOutput = openOutput;
  }

  /** Returns whether a person may open another stream now. */
  hasRoom(userId: string): boolean {
    const streamsOfPerson = [...this.#listeners].filter(({ viewer }) => viewer.userId === userId).length;
    return this.#listeners.size < maxStreams && streamsOfPerson < maxStreamsOfPerson;
  }

  /** Begins a stream of server-sent events that ends when the page leaves, the sign-in session ends or the feed closes. */
  open(page: PageStream): void {
    const { response, viewer } = page;
    response.writeHead(200, { ...eventStreamHeaders, 'cache-control': 'no-store, no-transform' });
    // When the feed closes, the pages connect again, possibly on the same connection. Ending the new stream makes a page try again until it
    // reaches another ingress.
    if (this.#isClosed) return void response.end(retryField);
    const snapshot = this.#read();
    if (this.#listeners.size === 0) {
      // Pages that connect later begin with the workers of the last tick, so that all pages get the same changes.
      this.#workersSent.update(this.#readWorkers());
      this.#sent.clear();
      this.#lastKeepAliveAt = performance.now();
      this.#timer = setInterval(() => this.#tick(), tickMs);
    }
    const sent = toViewerEvents(snapshot, viewer);
    const listener: Listener = { ...page, output: this.#openOutput(response), sent };
    this.#listeners.add(listener);
    response.once('close', () => this.#remove(listener));
    const events = [
      ...sharedKinds.map((kind) => toEvent(kind, snapshot.shared[kind])),
      toEvent('workers', this.#workersSent.toJson()),
      ...viewerKinds.map((kind) => toEvent(kind, sent[kind])),
    ];
    listener.output.write(`${retryField}${events.join('')}`);
  }

  /** Ends all streams. New streams end at once. */
  close(): void {
    this.#isClosed = true;
    for (const { output } of this.#listeners) output.end('');
    clearInterval(this.#timer);
  }

  /**
   * Ends a stream. The response closes only after the page has read everything. The listener is removed at once, because a write to the
   * ended response would be an uncaught error.
   */
  #dismiss(listener: Listener): void {
    this.#remove(listener);
    listener.output.end('');
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) clearInterval(this.#timer);
  }

  #read(): Snapshot {
    const stats = this.#stats();
    return {
      shared: {
        overview: JSON.stringify(addUpOverview(stats)),
        queue: JSON.stringify(addUpQueue(stats)),
      },
      failures: new VisibleFailures(stats),
      refused: JSON.stringify(addUpRefusals(stats)),
    };
  }

  #readWorkers(): LiveWorkerFacts[] {
    return listWorkerFacts(this.#workers.workers(), this.#workers.pools(), performance.now()).sort(
      (a, b) => a.startedAt - b.startedAt || a.id.localeCompare(b.id),
    );
  }

  #tick(): void {
    const snapshot = this.#read();
    const { shared } = snapshot;
    const changed = sharedKinds.filter((kind) => this.#sent.get(kind) !== shared[kind]);
    for (const kind of changed) this.#sent.set(kind, shared[kind]);
    const isKeepAliveDue = performance.now() - this.#lastKeepAliveAt > keepAliveMs;
    const text = changed.map((kind) => toEvent(kind, shared[kind])).join('') + (isKeepAliveDue ? ': alive\n\n' : '');
    const toWorkersEvent = this.#createWorkersEvent();
    if (isKeepAliveDue) this.#checkSessions();
    for (const listener of this.#listeners) {
      const viewerEvents = toViewerEvents(snapshot, listener.viewer);
      const changedKinds = viewerKinds.filter((kind) => viewerEvents[kind] !== listener.sent[kind]);
      listener.sent = viewerEvents;
      const events =
        text + toWorkersEvent(listener) + changedKinds.map((kind) => toEvent(kind, viewerEvents[kind])).join('');
      if (events !== '') listener.output.write(events);
    }
  }

  /**
   * Returns a function that returns the event of the workers for a listener, or an empty text if no worker has changed. The event is
   * serialized once for all listeners that accept the same kind of event.
   */
  #createWorkersEvent(): (listener: Listener) => string {
    const change = this.#workersSent.update(this.#readWorkers());
    if (change === undefined) return () => '';
    const changes = toEvent('workers-changed', change);
    let allWorkers: string | undefined;
    return ({ takesChanges }) =>
      takesChanges ? changes : (allWorkers ??= toEvent('workers', this.#workersSent.toJson()));
  }

  /**
   * Ends the streams of ended sign-in sessions, and updates the roles of the viewers, which may have changed here or on another ingress. If
   * a session cannot be read, its stream stays open.
   */
  #checkSessions(): void {
    this.#lastKeepAliveAt = performance.now();
    for (const listener of this.#listeners) {
      listener.findCurrentViewer().then(
        (viewer) => {
          if (viewer) listener.viewer = viewer;
          else this.#dismiss(listener);
        },
        () => undefined,
      );
    }
  }
}

function toViewerEvents({ failures, refused }: Snapshot, viewer: Viewer): Record<ViewerKind, string> {
  return { failures: failures.serializeFor(viewer), refused: viewer.isAdmin ? refused : '[]' };
}

function toEvent(kind: SharedKind | ViewerKind | 'workers' | 'workers-changed', data: string): string {
  return `event: ${kind}\ndata: ${data}\n\n`;
}
