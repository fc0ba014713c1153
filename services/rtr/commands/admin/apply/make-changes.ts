import { CallError } from '../../client/call-error.ts';
import type { Change, Maker } from './change.ts';

/**
 * Makes changes one after another.
 * @param onMade is called with each that was made, and the secret of a key that was created
 * @throws CallError that says which change failed, what was done before, and what was not
 */
export async function makeChanges(
  changes: readonly Change[],
  maker: Maker,
  onMade: (change: Change, secret: string | undefined) => Promise<void>,
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    let secret: string | undefined;
    try {
      secret = await change.make(maker);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const sentences = [
        `${change.what}: ${error.message}`,
        `Done before: ${names(changes.slice(0, index))}.`,
        `Not done: ${names(changes.slice(index))}. Apply the file again to do the rest.`,
      ];
      throw new CallError(error.status, sentences.join('\n'), { cause: error });
    }
    await onMade(change, secret);
  }
}

function names(changes: readonly Change[]): string {
  return changes.map(({ what }) => what).join(', ') || 'nothing';
}
