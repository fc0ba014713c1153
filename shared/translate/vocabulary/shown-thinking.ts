import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ownSignature } from './thinking.ts';

/**
 * How a `messages` client gets a model's thinking. It gets the text, or a block without text if it asks for that, or nothing if it asks for
 * no thinking. A client that does not expect thinking reads the first block as the answer.
 */
export type ShownThinking = 'text' | 'omitted' | 'none';

/** Returns how the request wants its thinking, for `Translation.recall`. */
export function recallThinking({ thinking }: JsonObject): { thinking: ShownThinking } {
  if (!isJsonObject(thinking) || thinking['type'] === 'disabled') return { thinking: 'none' };
  return { thinking: thinking['display'] === 'omitted' ? 'omitted' : 'text' };
}

export function shownThinking(recalled: JsonObject | undefined): ShownThinking {
  const shown = recalled?.['thinking'];
  return shown === 'none' || shown === 'omitted' ? shown : 'text';
}

/** Start of a signature that carries the thinking text which its block omits. */
const carrying = `${ownSignature}text.`;

/** Returns the signature of a thinking block without text. With it, the client returns the text. */
export function writeTextSignature(text: string): string {
  return `${carrying}${Buffer.from(text).toString('base64url')}`;
}

/** Reads the text in a signature; undefined for any other signature. */
export function readTextSignature(signature: unknown): string | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(carrying)) return undefined;
  return Buffer.from(signature.slice(carrying.length), 'base64url').toString();
}
