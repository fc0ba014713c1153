import type { RouterFacts } from '../../contract/live.ts';
import { chat } from './chat.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { WebFormat } from './web-format.ts';

/** Every format that the pages speak, in the order in which the pages show them. A new format is one file and one entry here. */
export const webFormats: readonly WebFormat[] = [chat, messages, responses];

export interface ServedFormat extends WebFormat {
  /** The format's base path, for example `/api/openai`. */
  base: string;
}

/** Returns the formats that both this router and these pages speak. */
export function findServedFormats({ formats }: Pick<RouterFacts, 'formats'>): ServedFormat[] {
  const bases = new Map(formats.map(({ name, path }) => [name, path]));
  return webFormats.flatMap((format) => {
    const base = bases.get(format.name);
    return base === undefined ? [] : [{ ...format, base }];
  });
}
