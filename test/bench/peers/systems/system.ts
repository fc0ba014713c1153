import type { LoadTarget } from '../../load/load.ts';
import type { BenchFormat } from '../upstream/scenarios.ts';

/** The formats on both sides of a system. */
export interface Route {
  client: BenchFormat;
  upstream: BenchFormat;
}

/**
 * With what a client comes: a key without limits, with limits of its own, or with limits and those of its team beside. A limit of
 * concurrent requests is counted in Redis for each request; the others are not, far from their ends.
 */
export type Access = 'unlimited' | 'limited key' | 'limited key and team' | 'limited key and team, concurrency too';

/** A system under test that runs. */
export interface System {
  /** Where requests of a route go; undefined where the system has no such route or no such keys. */
  target(route: Route, access: Access): Promise<LoadTarget | undefined>;
  /** Its processes, without their children. */
  roots(): readonly number[];
  /** Keys that it has never seen, if it has keys. */
  makeKeys?(count: number): Promise<string[]>;
  stop(): Promise<void>;
}

/** What a system is started with. */
export interface StartOptions {
  /** Ports of the upstreams on 127.0.0.1. Of several, it is to use those that answer. */
  upstreams: readonly number[];
  /** A folder of its own, for configuration and logs. */
  folder: string;
  /** Streams at once that it must be able to hold. */
  streams: number;
}

/** A system that can be compared. */
export interface SystemKind {
  name: SystemName;
  /** As a reader knows it. */
  title: string;
  /** How it is run, in a few words for the documentation. */
  settings: string;
  /** Sockets that one of its processes has for each open stream: a process may have only so many. */
  socketsPerStream: 1 | 2;
  /** Whether it has a way around an upstream that hangs. */
  avoidsHungUpstreams: boolean;
  /** Provides the program. Returns its version. @throws Error with the reason for which it cannot be had */
  install(): Promise<string>;
  start(options: StartOptions): Promise<System>;
}

export const systemNames = ['direct', 'nginx', 'express', 'portkey', 'litellm', 'rtr'] as const;
export type SystemName = (typeof systemNames)[number];

/** Milliseconds without a first byte after which a system with several upstreams is to ask another one. */
export const hungAfterMs = 2_000;

/** A target for a system that relays every path unchanged, so that both sides have the same format. */
export function relayedTarget(port: number, { client, upstream }: Route, access: Access): LoadTarget | undefined {
  if (client !== upstream || access !== 'unlimited') return undefined;
  return { host: '127.0.0.1', port, path: paths[client], key: 'bench', headers: headersOf(client) };
}

/** Where an upstream of a format is asked, and where most systems are. */
export const paths: Record<BenchFormat, string> = { chat: '/v1/chat/completions', messages: '/v1/messages' };

/** Lines of a client's head besides those of every request. */
export function headersOf(client: BenchFormat): string[] {
  return client === 'messages' ? ['anthropic-version: 2023-06-01'] : [];
}
