import { z } from 'zod';

/**
 * A range of versions of the broker contract: the subjects and messages between dispatchers and workers, and those between dispatchers
 * (ingress stats, key changes and price changes).
 *
 * - A field that the other side may do without is added under the same version, because readers let unknown fields through.
 * - A change that the other side must understand is a new version. A release speaks a range of versions: the newest and, for at least one
 *   release, the one before. So a cluster can be upgraded node by node in any order.
 * - An announcement names the range of its worker. A dispatcher speaks the newest version that both support. Tickets, claims, grants and
 *   offers of that worker's jobs have this version. If there is none, the console shows the worker and it gets no jobs.
 * - A message to everyone (an announcement, ingress stats) names the range of its sender, and fields are only ever added to it. Ingress
 *   stats are read if both ranges share a version; an entry that cannot be parsed, such as one of an unknown tier, is skipped alone.
 * - Key changes and price changes are signals without a version. A change of an unknown kind means that anything may have changed.
 * - Credentials limit the subjects. A version with new subjects comes a release after the one whose credentials allow these subjects,
 *   because only processes with such credentials can speak it.
 * - Workers of different ranges never share a lane (see `derivePoolToken`), so no worker pulls a ticket that it cannot read.
 */
export interface ContractRange {
  oldest: number;
  newest: number;
}

export const ownContract: ContractRange = { oldest: 1, newest: 1 };

export const contractVersion = z.number().int().positive();

/** Returns the newest version that both sides support; undefined if there is none. */
export function agreedVersion(own: ContractRange, other: ContractRange): number | undefined {
  const version = Math.min(own.newest, other.newest);
  return version >= Math.max(own.oldest, other.oldest) ? version : undefined;
}

export function includesVersion({ oldest, newest }: ContractRange, version: number): boolean {
  return version >= oldest && version <= newest;
}
