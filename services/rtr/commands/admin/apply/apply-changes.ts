import { CallError } from '../../client/call-error.ts';
import type { Change, ChangeContext } from './change.ts';

/**
 * Makes changes one after another.
 * @param isInterrupted returns whether to stop before the next change
 * @param onMade called after each change, with the secret if a key was created
 * @throws CallError that says which change failed, which were made before, and which were not made
 */
export async function applyChanges(
  changes: readonly Change[],
  context: ChangeContext,
  isInterrupted: () => boolean,
  onMade: (change: Change, secret: string | undefined) => Promise<void>,
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    if (isInterrupted())
      throw createStoppedError('Interrupted.', changes, index, new CallError(0, '', { code: 'interrupted' }));
    let secret: string | undefined;
    try {
      secret = await change.make(context);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      throw createStoppedError(`${change.what}: ${error.message}`, changes, index, error);
    }
    await onMade(change, secret);
  }
}

function createStoppedError(why: string, changes: readonly Change[], index: number, cause: CallError): CallError {
  const sentences = [
    why,
    `Done before: ${listNames(changes.slice(0, index))}.`,
    `Not done: ${listNames(changes.slice(index))}. Apply the file again to do the rest.`,
  ];
  const { status, code, field } = cause;
  return new CallError(status, sentences.join('\n'), { cause, code, field });
}

function listNames(changes: readonly Change[]): string {
  return changes.map(({ what }) => what).join(', ') || 'nothing';
}
