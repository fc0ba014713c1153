import type { ServerResponse } from 'node:http';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { addUpOverview, addUpQueue, addUpRefusals } from './add-up-stats.ts';
import { VisibleFailures, type Viewer } from './visible-failures.ts';
import type { LiveWorkerFacts } from '../contract/live.ts';
import { listWorkerFacts } from './worker-facts.ts';
import { SentWorkers } from './sent-workers.ts';

/** The kinds of events that are the same for every viewer. The events of the workers are too, but are sent as changes. */
const sharedKinds = ['overview', 'queue'] as const;
type SharedKind = (typeof sharedKinds)[number];

/** The kinds of events that depend on the viewer. */
const viewerKinds = ['failures', 'refused'] as const;
type ViewerKind = (typeof viewerKinds)[number];

const tickMs = 1_000;

/** Milliseconds between two comments that keep proxies and browsers connected. With each comment the sign-in session is checked. */
const heartbeatMs = 5_000;

/** All people together may have this many open streams. */
const maxStreams = 500;

/** One person may have this many open streams, in all sign-in sessions together. Each visible page has one. */
const maxStreamsOfPerson = 24;

/** Makes a page that lost its stream connect again after a second. */
const retryField = 'retry: 1000\n\n';

export interface PageStream {
  response: ServerResponse;
  viewer: Viewer;
  /** Whether the page accepts `workers-changed`. A page loaded from an older release may not, and gets all workers after each change. */
  takesChanges: boolean;
  /** Returns the person of the sign-in session with their present role; undefined once the session has ended. */
  currentViewer: () => Promise<Viewer | undefined>;
}

/**
 * The output of a stream. It ends streams whose pages read too slowly, and those that read nothing after their end. A page whose stream was
 * cut connects again.
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
 * its kind. There may be thousands of workers, so after the first event of workers only the changed ones are sent. Nothing is read while no
 * page is connected.
 */
export class LiveFeed {
  readonly #workers: LiveWorkers;
  readonly #stats: () => IngressStats[];
  readonly #openOutput: (response: ServerResponse) => StreamOutput;
  readonly #listeners = new Set<Listener>();
  readonly #sent = new Map<SharedKind, string>();
  readonly #workersSent = new SentWorkers();
  #timer: NodeJS.Timeout | undefined;
  #lastHeartbeat = 0;
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
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    // A page whose stream has just ended connects again, on the same connection if possible. The stream ends here too, so that the page
    // tries again until it reaches another ingress.
    if (this.#isClosed) return void response.end(retryField);
    const snapshot = this.#read();
    if (this.#listeners.size === 0) {
      // Pages that connect later begin with the workers of the last tick, so that all pages get the same changes.
      this.#workersSent.next(this.#readWorkers());
      this.#sent.clear();
      this.#lastHeartbeat = performance.now();
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
   * Ends a stream. The response closes only when everything was read. The listener is removed at once, because a write to the response
   * before that would be an uncaught error.
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
      (one, other) => one.startedAt - other.startedAt || one.id.localeCompare(other.id),
    );
  }

  #tick(): void {
    const snapshot = this.#read();
    const { shared } = snapshot;
    const changed = sharedKinds.filter((kind) => this.#sent.get(kind) !== shared[kind]);
    for (const kind of changed) this.#sent.set(kind, shared[kind]);
    const isHeartbeat = performance.now() - this.#lastHeartbeat > heartbeatMs;
    const text = changed.map((kind) => toEvent(kind, shared[kind])).join('') + (isHeartbeat ? ': alive\n\n' : '');
    const workers = this.#createWorkersEvent();
    if (isHeartbeat) this.#checkSessions();
    for (const listener of this.#listeners) {
      const viewerEvents = toViewerEvents(snapshot, listener.viewer);
      const changedKinds = viewerKinds.filter((kind) => viewerEvents[kind] !== listener.sent[kind]);
      listener.sent = viewerEvents;
      const events = text + workers(listener) + changedKinds.map((kind) => toEvent(kind, viewerEvents[kind])).join('');
      if (events !== '') listener.output.write(events);
    }
  }

  /**
   * Returns a function that gives the event of the workers for a listener; empty if no worker has changed. The text is built once for all
   * listeners that accept the same kind of event.
   */
  #createWorkersEvent(): (listener: Listener) => string {
    const change = this.#workersSent.next(this.#readWorkers());
    if (change === undefined) return () => '';
    const changes = toEvent('workers-changed', change);
    let allWorkers: string | undefined;
    return ({ takesChanges }) =>
      takesChanges ? changes : (allWorkers ??= toEvent('workers', this.#workersSent.toJson()));
  }

  /**
   * Ends streams whose sign-in session has ended, and updates the person's role, which may have changed here or on another ingress. If a
   * session cannot be read, its stream stays open.
   */
  #checkSessions(): void {
    this.#lastHeartbeat = performance.now();
    for (const listener of this.#listeners) {
      listener.currentViewer().then(
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
