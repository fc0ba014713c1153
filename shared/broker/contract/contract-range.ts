import { z } from 'zod';

/**
 * A range of versions of the broker contract. The contract covers the subjects and messages between dispatchers and workers, and between
 * dispatchers (ingress stats, key changes and price changes).
 *
 * - A new field that the other side may ignore needs no new version, because readers ignore unknown fields.
 * - A change that the other side must understand is a new version. A release speaks a range of versions: the newest and, for at least one
 *   release, the version before it. So a cluster can be upgraded node by node in any order.
 * - An announcement names the range of its worker. A dispatcher speaks the newest version that both support. Tickets, claims, grants and
 *   offers of that worker's jobs have this version. If both support no common version, the worker gets no jobs, and the console says so.
 * - A message to everyone (an announcement, ingress stats) names the range of its sender. New versions only add fields to it. Ingress stats
 *   are read if both ranges share a version. An entry that cannot be parsed, such as an entry of an unknown tier, is skipped.
 * - Key changes and price changes are signals without a version. A change of an unknown kind means that anything may have changed.
 * - Credentials limit the subjects. So one release allows new subjects in its credentials, and the next release uses them in a new version:
 *   only processes with the new credentials can speak that version.
 * - Workers of different ranges never share a lane (see `derivePoolToken`), so no worker pulls a ticket that it cannot read.
 */
export interface ContractRange {
  oldest: number;
  newest: number;
}

/** The versions of the contract that this release speaks. */
export const ownContract: ContractRange = { oldest: 1, newest: 1 };

export const contractVersion = z.number().int().positive();

/** Returns the newest version that both sides support; undefined if they share no version. */
export function findCommonVersion(a: ContractRange, b: ContractRange): number | undefined {
  const version = Math.min(a.newest, b.newest);
  return version >= Math.max(a.oldest, b.oldest) ? version : undefined;
}

export function includesVersion({ oldest, newest }: ContractRange, version: number): boolean {
  return version >= oldest && version <= newest;
}
