import type { ServerResponse } from 'node:http';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { addUpOverview, addUpQueue, addUpRefusals } from './add-up-stats.ts';
import { VisibleFailures, type Viewer } from './visible-failures.ts';
import type { LiveWorkerFacts } from '../contract/live.ts';
import { allWorkerFacts } from './worker-facts.ts';
import { SentWorkers } from './worker-texts.ts';

/** The events that are the same for every viewer, besides those of the workers. */
const sharedKinds = ['overview', 'queue'] as const;
type SharedKind = (typeof sharedKinds)[number];

/** The events that depend on the viewer. */
const ownKinds = ['failures', 'refused'] as const;
type OwnKind = (typeof ownKinds)[number];

const tickMs = 1_000;

/** Milliseconds between two comments that keep proxies and browsers connected. With each comment the sign-in session is checked. */
const heartbeatMs = 5_000;

/** All sign-in sessions together may have this many open streams. */
const maxStreams = 500;

/** One sign-in session may have this many open streams. Each visible page has one. */
const maxStreamsOfSession = 8;

/** Bytes that may wait for a page that reads too slowly. If there are more, its stream is cut, and the page connects again. */
const maxUnreadBytes = 4 * 1024 * 1024;

/** Milliseconds after which an ended stream whose last bytes are not read is destroyed. */
const stalledMs = 30_000;

/** Makes a page that lost its stream connect again after a second. */
const retry = 'retry: 1000\n\n';

export interface PageStream {
  response: ServerResponse;
  session: string;
  viewer: Viewer;
  /** Whether the page accepts the changes of the workers. A page that was loaded before an update may not: it gets all workers again. */
  takesChanges: boolean;
  /** Returns the person of the sign-in session with their present role; undefined once the session has ended. */
  currentViewer: () => Promise<Viewer | undefined>;
}

interface Listener extends PageStream {
  /** The last events sent to this viewer. */
  sent: Record<OwnKind, string>;
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
  readonly #listeners = new Set<Listener>();
  readonly #sent = new Map<SharedKind, string>();
  readonly #workersSent = new SentWorkers();
  #timer: NodeJS.Timeout | undefined;
  #lastHeartbeat = 0;
  #isClosed = false;

  constructor(workers: LiveWorkers, stats: () => IngressStats[]) {
    this.#workers = workers;
    this.#stats = stats;
  }

  hasRoom(session: string): boolean {
    const own = [...this.#listeners].filter((listener) => listener.session === session).length;
    return this.#listeners.size < maxStreams && own < maxStreamsOfSession;
  }

  /** Begins a stream of server-sent events that ends when the page leaves, the sign-in session ends or the feed closes. */
  open(page: PageStream): void {
    const { response, viewer } = page;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    // A page whose stream has just ended connects again, on the same connection if possible. It must reach another ingress.
    if (this.#isClosed) return void response.end(retry);
    const snapshot = this.#read();
    if (this.#listeners.size === 0) {
      // Pages that connect later begin with the workers of the last tick, so that all pages get the same changes.
      this.#workersSent.next(this.#readWorkers());
      this.#sent.clear();
      this.#lastHeartbeat = performance.now();
      this.#timer = setInterval(() => this.#tick(), tickMs);
    }
    const sent = ownEvents(snapshot, viewer);
    const listener: Listener = { ...page, sent };
    this.#listeners.add(listener);
    response.once('close', () => this.#remove(listener));
    const events = [
      ...sharedKinds.map((kind) => eventOf(kind, snapshot.shared[kind])),
      eventOf('workers', this.#workersSent.toJson()),
      ...ownKinds.map((kind) => eventOf(kind, sent[kind])),
    ];
    response.write(`${retry}${events.join('')}`);
  }

  /** Ends all streams. New streams end at once. */
  close(): void {
    this.#isClosed = true;
    for (const { response } of this.#listeners) response.end();
    clearInterval(this.#timer);
  }

  /** Ends a stream. The response closes only when everything was read. A write before that would be an uncaught error. */
  #dismiss(listener: Listener): void {
    const { response } = listener;
    this.#remove(listener);
    response.end();
    response.setTimeout(stalledMs, () => response.destroy());
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
    return allWorkerFacts(this.#workers, performance.now()).sort(
      (one, other) => one.startedAt - other.startedAt || one.id.localeCompare(other.id),
    );
  }

  #tick(): void {
    const snapshot = this.#read();
    const { shared } = snapshot;
    const changed = sharedKinds.filter((kind) => this.#sent.get(kind) !== shared[kind]);
    for (const kind of changed) this.#sent.set(kind, shared[kind]);
    const isHeartbeat = performance.now() - this.#lastHeartbeat > heartbeatMs;
    const text = changed.map((kind) => eventOf(kind, shared[kind])).join('') + (isHeartbeat ? ': alive\n\n' : '');
    const workers = this.#workersEvents();
    if (isHeartbeat) this.#checkSessions();
    for (const listener of this.#listeners) {
      const own = ownEvents(snapshot, listener.viewer);
      const news = ownKinds.filter((kind) => own[kind] !== listener.sent[kind]);
      listener.sent = own;
      const events = text + workers(listener) + news.map((kind) => eventOf(kind, own[kind])).join('');
      if (events === '') continue;
      if (listener.response.writableLength > maxUnreadBytes) listener.response.destroy();
      else listener.response.write(events);
    }
  }

  /** Creates the workers' event for each listener. The text is built once for all listeners that accept the same kind. */
  #workersEvents(): (listener: Listener) => string {
    const change = this.#workersSent.next(this.#readWorkers());
    if (change === undefined) return () => '';
    const changes = eventOf('workers-changed', change);
    let whole: string | undefined;
    return ({ takesChanges }) => (takesChanges ? changes : (whole ??= eventOf('workers', this.#workersSent.toJson())));
  }

  /**
   * Ends streams whose sign-in session has ended, and updates the person's role, which may have changed here or on another ingress. When
   * the session cannot be read, the stream stays open.
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

function ownEvents({ failures, refused }: Snapshot, viewer: Viewer): Record<OwnKind, string> {
  return { failures: failures.textFor(viewer), refused: viewer.isAdmin ? refused : '[]' };
}

function eventOf(kind: SharedKind | OwnKind | 'workers' | 'workers-changed', data: string): string {
  return `event: ${kind}\ndata: ${data}\n\n`;
}
