import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ownSignature } from './thinking.ts';

/**
 * What a messages client gets of a model's thinking: its text, a block without text where it asks for that, or nothing where it
 * asks for no thinking. A client that does not expect it reads the first block as the answer.
 */
export type ShownThinking = 'text' | 'omitted' | 'none';

/** What of a request decides that, for `Translation.recall`. */
export function recallThinking({ thinking }: JsonObject): { thinking: ShownThinking } {
  if (!isJsonObject(thinking) || thinking['type'] === 'disabled') return { thinking: 'none' };
  return { thinking: thinking['display'] === 'omitted' ? 'omitted' : 'text' };
}

/** @param recalled see `Minted.recalled` */
export function shownThinking(recalled: JsonObject | undefined): ShownThinking {
  const shown = recalled?.['thinking'];
  return shown === 'none' || shown === 'omitted' ? shown : 'text';
}

/** What a signature begins with that carries the text of thinking which its block omits. */
const carrying = `${ownSignature}text.`;

/** The signature of a block of thinking without text, by which the client returns the text. */
export function carryingSignature(text: string): string {
  return `${carrying}${Buffer.from(text).toString('base64url')}`;
}

/** The text that a signature carries; undefined for any other signature. */
export function carriedText(signature: unknown): string | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(carrying)) return undefined;
  return Buffer.from(signature.slice(carrying.length), 'base64url').toString();
}
