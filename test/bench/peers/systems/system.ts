import type { LoadTarget } from '../../load/load.ts';
import type { BenchFormat } from '../upstream/scenarios.ts';

export interface Route {
  client: BenchFormat;
  upstream: BenchFormat;
}

/**
 * Kind of key of a client: a key without limits, with limits of its own, with limits of its own and of its team, or with limits of
 * concurrent requests, too. All limits are far from their ends.
 */
export type Access = 'unlimited' | 'limited key' | 'limited key and team' | 'limited key and team, concurrency too';

export interface System {
  /** Returns the target for requests of a route; undefined where the system has no such route or no such keys. */
  target(route: Route, access: Access): Promise<LoadTarget | undefined>;
  /** Returns the ids of its processes, without their children. */
  roots(): readonly number[];
  /** Creates keys that it has never seen, if it has keys. */
  makeKeys?(count: number): Promise<string[]>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Ports of the upstreams on 127.0.0.1. Of several, it must use those that answer. */
  upstreams: readonly number[];
  folder: string;
  /** Streams at once that it must be able to hold. */
  streams: number;
}

export interface SystemKind {
  name: SystemName;
  title: string;
  /** How it is run, in a few words for the documentation. */
  settings: string;
  /** Sockets of one of its processes per open stream: the number of sockets of a process is limited. */
  socketsPerStream: 1 | 2;
  avoidsHungUpstreams: boolean;
  /**
   * Installs the program and returns its version.
   * @throws Error with the reason why it cannot be installed
   */
  install(): Promise<string>;
  start(options: StartOptions): Promise<System>;
}

export const systemNames = ['direct', 'nginx', 'express', 'portkey', 'litellm', 'smg', 'rtr'] as const;
export type SystemName = (typeof systemNames)[number];

/** Milliseconds without a first byte after which a system with several upstreams must use another one. */
export const hungAfterMs = 2_000;

/** Returns a target for a system that relays every path unchanged, so that both sides have the same format. */
export function relayedTarget(port: number, { client, upstream }: Route, access: Access): LoadTarget | undefined {
  if (client !== upstream || access !== 'unlimited') return undefined;
  return { host: '127.0.0.1', port, path: paths[client], key: 'bench', headers: headersOf(client) };
}

/** Paths of an upstream by format; most systems have the same. */
export const paths: Record<BenchFormat, string> = { chat: '/v1/chat/completions', messages: '/v1/messages' };

export function headersOf(client: BenchFormat): string[] {
  return client === 'messages' ? ['anthropic-version: 2023-06-01'] : [];
}
