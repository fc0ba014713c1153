import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { RefreshTokens } from '#shared/accounts/programs/refresh-token.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';

const [old, next] = [randomBytes(32), randomBytes(32)];
const token = { programId: '0123456789ab', generation: 3 };

/** The secrets of a node, in the order in which docs/operations.md changes them. */
const steps = [[old], [old, next], [next, old], [next]];

function nodeWith(secrets: readonly Uint8Array[]) {
  const sealer = new OwnerKeys(() => secrets).storeSealer('owner');
  if (!sealer) throw new Error('no secret');
  return { tokens: new RefreshTokens(() => secrets), sealer };
}

type Node = ReturnType<typeof nodeWith>;

/** What a node reads of what another has written. */
function readBy(reader: Node, writer: Node) {
  const written = writer.tokens.write(token) ?? '';
  return { token: reader.tokens.read(written), text: reader.sealer.unseal(writer.sealer.seal('text')) };
}

it('a change of the secret of the cluster in three steps lets each node read what one in the same step, or one next to it, writes', () => {
  const nodes = steps.map(nodeWith);
  for (const [at, node] of nodes.entries()) {
    for (const other of nodes.slice(Math.max(0, at - 1), at + 2))
      expect(readBy(node, other)).toEqual({ token, text: 'text' });
  }
});
