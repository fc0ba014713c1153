import { z } from 'zod';

/**
 * Versions of the broker contract: the subjects and messages between ingress nodes and workers, and those between ingress
 * nodes: ingress stats, key changes and price changes.
 *
 * - A field that the other side may do without is added under the same version: readers let unknown fields through.
 * - A change that the other side must understand is a new version. A release speaks a range of versions, the newest and for
 *   at least one release the one before, so that a cluster can be upgraded node by node in any order.
 * - An announcement names the range of its worker. An ingress speaks the newest version that both know: tickets, claims,
 *   grants and offers of that worker's jobs are of it. Where there is none, the worker is shown to people and gets no jobs.
 * - A message to everyone (an announcement, ingress stats) names the range of its sender, and its fields are only ever added
 *   to. Ingress stats are read when both ranges share a version; an entry that is not understood, as one of an unknown
 *   tier, is skipped alone.
 * - Key changes and price changes are signals without a version. One of an unknown kind means that anything may have changed.
 * - Subjects are what credentials allow. A version that needs others is spoken only by who has them, so it comes a
 *   release after the one whose credentials allow them.
 * - Workers of different ranges never share a lane (see `poolOf`): nobody pulls a ticket that it cannot read.
 */
export interface ContractRange {
  oldest: number;
  newest: number;
}

/** The versions that this release speaks. */
export const ownContract: ContractRange = { oldest: 1, newest: 1 };

/** A version as messages carry it. */
export const contractVersion = z.number().int().positive();

/** The version that two sides speak: the newest that both know; undefined when there is none. */
export function agreedVersion(one: ContractRange, other: ContractRange): number | undefined {
  const version = Math.min(one.newest, other.newest);
  return version >= Math.max(one.oldest, other.oldest) ? version : undefined;
}

/** Whether a message of this version can be read. */
export function speaks({ oldest, newest }: ContractRange, version: number): boolean {
  return version >= oldest && version <= newest;
}
