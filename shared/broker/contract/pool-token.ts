import { createHash } from 'node:crypto';
import type { Tier } from '#shared/core/tier.ts';
import type { ModelInfo, ToolInfo } from './announcement.ts';
import { ownContract, type ContractRange } from './contract-range.ts';

export interface PoolTraits {
  tier: Tier;
  kind: string;
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools?: readonly ToolInfo[] | undefined;
  /** Default: the versions of this release. */
  contract?: ContractRange;
}

/**
 * Derives the pool token of a worker. Workers are interchangeable, and have the same token, if they have the same tier and kind, the same
 * formats, models and tools, and the same versions of the contract.
 */
export function derivePoolToken(facts: PoolTraits): string {
  return `${facts.kind.replaceAll(/[^\w-]/g, '-')}-${computePoolDigest(facts).slice(0, 12)}`;
}

/** Computes the digest of the traits that the workers of one pool have in common, as 64 hexadecimal digits. */
export function computePoolDigest({
  tier,
  kind,
  formats,
  models,
  tools = [],
  contract = ownContract,
}: PoolTraits): string {
  const { oldest, newest } = contract;
  const facts = [
    ...models.map(({ id, capabilities, contextWindow, maxOutput, operations, lacks = [] }) =>
      JSON.stringify([
        id,
        [...capabilities].sort(),
        contextWindow,
        maxOutput,
        ...(operations ? [operations] : []),
        ...(lacks.length > 0 ? [{ lacks: [...lacks].sort() }] : []),
      ]),
    ),
    ...tools.map(({ name, description, inputSchema, server, givenName, title, ...others }) => {
      const { outputSchema, annotations, passes } = others;
      const further = JSON.stringify({ givenName, title, outputSchema, annotations, passes });
      const parts = [name, description, inputSchema, ...(server === undefined ? [] : [server])];
      return JSON.stringify(further === '{}' ? parts : [...parts, further]);
    }),
  ];
  return createHash('sha256')
    .update([tier, kind, `${oldest}-${newest}`, [...formats].sort().join(), ...facts.sort()].join('\n'))
    .digest('hex');
}
